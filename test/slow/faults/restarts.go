// Clients of a busy service as Go makes them: connections that are kept, and no try again.
// restarts URL TOKEN CLIENTS: creates plants until standard input ends, then prints how the requests ended.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	url, token := os.Args[1], os.Args[2]
	clients, _ := strconv.Atoi(os.Args[3])
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	var next, answered, refused, broken atomic.Int64
	var isOver atomic.Bool
	var all sync.WaitGroup

	create := func() error {
		body := strings.NewReader(fmt.Sprintf(`{"id":%d,"name":"Rose"}`, next.Add(1)))
		request, _ := http.NewRequest("POST", url+"/plants", body)
		// Without it the client cannot send the body again by itself.
		request.GetBody = nil
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != 200 {
			return fmt.Errorf("status %d", response.StatusCode)
		}
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}

	for range clients {
		all.Add(1)
		go func() {
			defer all.Done()
			for !isOver.Load() {
				err := create()
				switch {
				case err == nil:
					answered.Add(1)
				// Nothing was sent: between two daemons nobody listens.
				case errors.Is(err, syscall.ECONNREFUSED):
					refused.Add(1)
					time.Sleep(5 * time.Millisecond)
				default:
					broken.Add(1)
					fmt.Fprintln(os.Stderr, err)
				}
			}
		}()
	}
	io.Copy(io.Discard, os.Stdin)
	isOver.Store(true)
	all.Wait()
	json.NewEncoder(os.Stdout).Encode(map[string]int64{
		"answered": answered.Load(), "refused": refused.Load(), "broken": broken.Load(),
	})
}
