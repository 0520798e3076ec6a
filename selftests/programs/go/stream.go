// SPDX-License-Identifier: GPL-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// stream is an endless sequence of bytes that its seed determines: as a Reader it
// produces them, as a Writer it refuses any other.
type stream struct {
	seed, offset uint64
}

// word is number k of the sequence of 64-bit words (splitmix64).
func (s *stream) word(k uint64) uint64 {
	x := s.seed + (k+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s *stream) Read(p []byte) (int, error) {
	var word [8]byte
	for done := 0; done < len(p); {
		binary.LittleEndian.PutUint64(word[:], s.word(s.offset/8))
		n := copy(p[done:], word[s.offset%8:])
		done += n
		s.offset += uint64(n)
	}
	return len(p), nil
}

func (s *stream) Write(p []byte) (int, error) {
	var word [8]byte
	for done := 0; done < len(p); {
		binary.LittleEndian.PutUint64(word[:], s.word(s.offset/8))
		for _, b := range word[s.offset%8:] {
			if done == len(p) {
				break
			}
			if p[done] != b {
				return done, fmt.Errorf("byte %d is wrong", s.offset)
			}
			done++
			s.offset++
		}
	}
	return len(p), nil
}

// send writes n bytes of the sequence.
func send(w io.Writer, seed uint64, n int64) error {
	_, err := io.Copy(w, io.LimitReader(&stream{seed: seed}, n))
	return err
}

// expect reads to the end, which must come after n bytes of the sequence.
func expect(r io.Reader, seed uint64, n int64) error {
	got, err := io.Copy(&stream{seed: seed}, r)
	if err == nil && got != n {
		err = errors.New(fmt.Sprint(got, " bytes instead of ", n))
	}
	return err
}
