// Reads HTTP/1.1 and HPACK with the Go project's own packages and tells what it has read, for the fuzzers to compare with. Takes
// items of a kind byte, a length of four bytes (little endian) and that many bytes; answers each with one line.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	header := make([]byte, 5)
	for {
		// Whoever asks sends many at once and waits for all answers.
		if in.Buffered() == 0 {
			out.Flush()
		}
		if _, err := io.ReadFull(in, header); err != nil {
			return
		}
		item := make([]byte, binary.LittleEndian.Uint32(header[1:]))
		if _, err := io.ReadFull(in, item); err != nil {
			return
		}
		out.WriteString(answer(header[0], item))
		out.WriteByte('\n')
	}
}

func answer(kind byte, item []byte) string {
	switch kind {
	case 'q':
		return requests(item)
	case 'h':
		return blocks(item)
	case 'f':
		return frames(item)
	default:
		method := "GET"
		if kind == 'H' {
			method = "HEAD"
		}
		return response(item, method)
	}
}

func requests(item []byte) string {
	reader := bufio.NewReader(bytes.NewReader(item))
	var read []string
	for {
		request, err := http.ReadRequest(reader)
		if err == io.EOF {
			return strings.Join(read, " ")
		}
		if err != nil {
			return refused(read, err)
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return refused(read, err)
		}
		read = append(read, fmt.Sprintf("%s|%s|%s|%s|%s|%s", request.Method, request.RequestURI, request.Host,
			framing(request.TransferEncoding, request.ContentLength > 0), hex.EncodeToString(body), trailers(request.Trailer)))
	}
}

func response(item []byte, method string) string {
	reader := bufio.NewReader(bytes.NewReader(item))
	for {
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		if err != nil {
			return refused(nil, err)
		}
		if response.StatusCode < 200 {
			continue
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return refused(nil, err)
		}
		return fmt.Sprintf("%d|%s|%s", response.StatusCode, hex.EncodeToString(body), trailers(response.Trailer))
	}
}

func framing(codings []string, hasLength bool) string {
	if len(codings) > 0 {
		return strings.Join(codings, ",")
	}
	if hasLength {
		return "length"
	}
	return "none"
}

func trailers(header http.Header) string {
	var names []string
	for name, values := range header {
		// Those that were only announced have none.
		if len(values) > 0 {
			names = append(names, strings.ToLower(name))
		}
	}
	sort.Strings(names)
	return strings.Join(names, ",")
}

func refused(read []string, err error) string {
	return strings.Join(append(read, "refused:"+strings.ReplaceAll(fmt.Sprintf("%q", err.Error()), " ", "_")), " ")
}

// An item is the table's size in two bytes, and then blocks with a length of two bytes each.
func blocks(item []byte) string {
	if len(item) < 2 {
		return ""
	}
	var fields []byte
	decoder := hpack.NewDecoder(uint32(binary.LittleEndian.Uint16(item)), func(field hpack.HeaderField) {
		fields = append(fields, field.Name...)
		fields = append(fields, 0)
		fields = append(fields, field.Value...)
		fields = append(fields, 0)
	})
	var read []string
	for rest := item[2:]; len(rest) >= 2; {
		length := int(binary.LittleEndian.Uint16(rest))
		block := rest[2:min(2+length, len(rest))]
		rest = rest[2+len(block):]
		fields = nil
		_, err := decoder.Write(block)
		if err == nil {
			err = decoder.Close()
		}
		if err != nil {
			return refused(read, err)
		}
		read = append(read, "="+hex.EncodeToString(fields))
	}
	return strings.Join(read, " ")
}

func frames(item []byte) string {
	framer := http2.NewFramer(io.Discard, bytes.NewReader(item))
	framer.SetMaxReadFrameSize(1 << 14)
	// Which frame may follow which is looked at elsewhere.
	framer.AllowIllegalReads = true
	var read []string
	for {
		frame, err := framer.ReadFrame()
		if err == io.EOF {
			return strings.Join(read, " ")
		}
		if err != nil {
			return refused(read, err)
		}
		header := frame.Header()
		read = append(read, fmt.Sprintf("%d|%d|%d|%s", header.Type, header.Flags, header.StreamID, hex.EncodeToString(carried(frame))))
	}
}

func carried(frame http2.Frame) []byte {
	switch frame := frame.(type) {
	case *http2.DataFrame:
		return frame.Data()
	case *http2.HeadersFrame:
		return frame.HeaderBlockFragment()
	case *http2.ContinuationFrame:
		return frame.HeaderBlockFragment()
	case *http2.UnknownFrame:
		return frame.Payload()
	case *http2.PingFrame:
		return frame.Data[:]
	default:
		return nil
	}
}
