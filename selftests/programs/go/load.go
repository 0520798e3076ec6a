// SPDX-License-Identifier: GPL-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// clients runs that many of work at once and returns the first error.
func clients(n int, work func(id int) error) error {
	results := make(chan error)
	for id := 0; id < n; id++ {
		go func(id int) { results <- work(id) }(id)
	}
	var first error
	for id := 0; id < n; id++ {
		if err := <-results; first == nil {
			first = err
		}
	}
	return first
}

func get(client *http.Client, url string, seed uint64, n int64) error {
	answer, err := client.Get(fmt.Sprintf("%s/give?seed=%d&n=%d", url, seed, n))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return expect(answer.Body, seed, n)
}

func post(client *http.Client, url string, seed uint64, n int64) error {
	body := io.LimitReader(&stream{seed: seed}, n)
	answer, err := client.Post(fmt.Sprintf("%s/take?seed=%d&n=%d", url, seed, n), "x/y", body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(string(said))
	}
	return err
}

// small asks count times for little, on connections that are kept or not.
func small(url string, count int, keep bool) error {
	return clients(8, func(id int) error {
		transport := &http.Transport{DisableKeepAlives: !keep}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		for i := 0; i < count/8; i++ {
			if err := get(client, url, uint64(i), int64(i*37%3000)); err != nil {
				return err
			}
		}
		return nil
	})
}

// bodies gets and posts large ones of n bytes at the same time.
func bodies(url string, n int64) error {
	return clients(4, func(id int) error {
		client := &http.Client{Transport: &http.Transport{}}
		if id%2 == 0 {
			return get(client, url, uint64(id), n)
		}
		return post(client, url, uint64(id), n)
	})
}

// served compares what the server sends of a file, by sendfile, with the file.
func served(url, file string) error {
	answer, err := http.Get(url + "/file")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	wanted, err := os.ReadFile(file)
	if err == nil && !bytes.Equal(got, wanted) {
		err = errors.New("the file differs")
	}
	return err
}

// returned writes n bytes without pause and reads the same back, to the end.
func returned(port int, n int64) error {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer conn.Close()
	sent := make(chan error)
	go func() {
		err := send(conn, 5, n)
		conn.(*net.TCPConn).CloseWrite()
		sent <- err
	}()
	err = expect(conn, 5, n)
	if failed := <-sent; err == nil {
		err = failed
	}
	return err
}

// deadlines lets reads run into them in between.
func deadlines(port int) error {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer conn.Close()
	buffer := make([]byte, 100)
	for i := 0; i < 10; i++ {
		conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := conn.Read(buffer); !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("no time-out: %v", err)
		}
		conn.SetReadDeadline(time.Time{})
		if err := send(conn, uint64(i), 100); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, buffer); err != nil {
			return err
		}
		if err := expect(bytes.NewReader(buffer), uint64(i), 100); err != nil {
			return err
		}
	}
	return nil
}
