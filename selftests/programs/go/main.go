// SPDX-License-Identifier: GPL-2.0

// A server and a client as people write them in Go: net/http with and without
// keep-alive, sendfile, io.Copy from one connection to another.
//
//	netload serve PORT FILE        on PORT to PORT+3
//	netload load WHAT PORT FILE N  N requests, or N bytes
package main

import (
	"fmt"
	"os"
	"strconv"
)

func run(what string, port int, file string, n int) error {
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	switch what {
	case "kept":
		return small(url, n, true)
	case "closed":
		return small(url, n, false)
	case "ipv6":
		return small(fmt.Sprintf("http://[::1]:%d", port+3), n, true)
	case "bodies":
		return bodies(url, int64(n))
	case "file":
		return served(url, file)
	case "echo":
		return returned(port+1, int64(n))
	case "proxy":
		return clients(2, func(int) error { return returned(port+2, int64(n)) })
	case "deadlines":
		return deadlines(port + 1)
	}
	return fmt.Errorf("what is %q?", what)
}

func main() {
	var port, n int
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		port, _ = strconv.Atoi(os.Args[2])
		serve(port, os.Args[3])
	}
	if len(os.Args) != 6 || os.Args[1] != "load" {
		fmt.Fprintln(os.Stderr, "usage: netload serve PORT FILE | load WHAT PORT FILE N")
		os.Exit(2)
	}
	port, _ = strconv.Atoi(os.Args[3])
	n, _ = strconv.Atoi(os.Args[5])
	if err := run(os.Args[2], port, os.Args[4], n); err != nil {
		fmt.Fprintln(os.Stderr, os.Args[2]+":", err)
		os.Exit(1)
	}
}
