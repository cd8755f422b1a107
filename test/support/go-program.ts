/** Answers with the version of Go that built it; by system calls alone, as to compile `net` takes half a minute. */
export const GO_PROGRAM = `package main

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
)

func main() {
	port, _ := strconv.Atoi(os.Getenv("PORT"))
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		err = syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = syscall.Listen(socket, 16)
	}
	if err != nil {
		panic(err)
	}
	for {
		connection, _, err := syscall.Accept(socket)
		if err != nil {
			continue
		}
		syscall.Read(connection, make([]byte, 4096))
		version := runtime.Version()
		syscall.Write(connection, []byte("HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: "+strconv.Itoa(len(version))+"\\r\\n\\r\\n"+version))
		syscall.Close(connection)
	}
}
`
