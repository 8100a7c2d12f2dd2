package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// knockMain is the program `knock` of the scripts: a browser that is let in.
//
//	knock in LINK                          visits a link, prints the cookie as NAME=VALUE
//	knock get|post LINK COOKIE PATH [BODY] asks the link's server as its page does, prints status and body
//
// It ends with status 1 where the answer is no success.
func knockMain() {
	args := os.Args[1:]
	link, err := url.Parse(args[1])
	if err != nil {
		fail(err)
	}
	origin := link.Scheme + "://" + link.Host
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	method, target, body := http.MethodGet, link.String(), ""
	if args[0] != "in" {
		method, target, body = strings.ToUpper(args[0]), origin+args[3], strings.Join(args[4:], " ")
	}
	req, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		fail(err)
	}
	if args[0] == "in" {
		req.Header.Set("Accept", "text/html")
	} else {
		req.Header.Set("Cookie", args[2])
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("Origin", origin)
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.Do(req)
	if err != nil {
		fail(err)
	}
	defer res.Body.Close()
	if args[0] == "in" && res.StatusCode == http.StatusSeeOther {
		fmt.Println(strings.Split(res.Header.Get("Set-Cookie"), ";")[0])
		return
	}
	fmt.Println(res.StatusCode)
	_, _ = io.Copy(os.Stdout, res.Body)
	fmt.Println()
	if res.StatusCode >= 400 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "knock:", err)
	os.Exit(1)
}
