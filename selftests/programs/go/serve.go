// SPDX-License-Identifier: GPL-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

func number(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	return n
}

// give answers with n bytes of a sequence.
func give(w http.ResponseWriter, r *http.Request) {
	n := number(r, "n")
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	if err := send(w, uint64(number(r, "seed")), n); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// take judges the body.
func take(w http.ResponseWriter, r *http.Request) {
	if err := expect(r.Body, uint64(number(r, "seed")), number(r, "n")); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, "as expected")
}

// copyAll passes on everything, and then that there is no more. Between two TCP
// connections io.Copy uses splice.
func copyAll(to, from *net.TCPConn) {
	io.Copy(to, from)
	to.CloseWrite()
}

func echo(conn *net.TCPConn) {
	defer conn.Close()
	copyAll(conn, conn)
}

// forward connects each connection with another one to the address.
func forward(address string) func(*net.TCPConn) {
	return func(near *net.TCPConn) {
		defer near.Close()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		far := conn.(*net.TCPConn)
		defer far.Close()
		done := make(chan bool)
		go func() {
			copyAll(far, near)
			done <- true
		}()
		copyAll(near, far)
		<-done
	}
}

func listen(host string, port int) net.Listener {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		panic(err)
	}
	return listener
}

func acceptAll(listener net.Listener, handle func(*net.TCPConn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go handle(conn.(*net.TCPConn))
	}
}

// serve answers on four ports: HTTP, an echo, a proxy of the echo, and last, as the
// script waits for it, HTTP over IPv6.
func serve(port int, file string) {
	mux := http.NewServeMux()
	mux.HandleFunc("/give", give)
	mux.HandleFunc("/take", take)
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, file)
	})
	go http.Serve(listen("127.0.0.1", port), mux)
	go acceptAll(listen("127.0.0.1", port+1), echo)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1))
	go acceptAll(listen("", port+2), forward(address))
	panic(http.Serve(listen("::1", port+3), mux))
}
