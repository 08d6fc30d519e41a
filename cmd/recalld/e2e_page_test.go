package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// TestE2EPage opens the page as a person does, and as others would like to.
func TestE2EPage(t *testing.T) {
	m, repo := newMachine(t), shop(t)
	if out, err := m.command(repo, "remember", "The cache belonged to root").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := m.command(repo, "ui", "--no-open").Output()
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(strings.TrimSpace(string(out)))
	if err != nil || link.Hostname() != "127.0.0.1" {
		t.Fatalf("the address is %q, %v", out, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser, stranger := &http.Client{Jar: jar}, &http.Client{}
	page := func(path string) string { return link.Scheme + "://" + link.Host + path }
	for _, step := range []struct {
		name, method, url string
		client            *http.Client
		header, value     string
		want              int
		text              string
	}{
		{name: "without the link", url: page("/ui/lessons"), client: stranger, want: http.StatusForbidden},
		{name: "the link", url: link.String(), client: browser, want: http.StatusOK, text: "Overview"},
		{name: "the link again", url: link.String(), client: stranger, want: http.StatusForbidden},
		{name: "the lessons", url: page("/ui/lessons"), client: browser, want: http.StatusOK, text: "The cache belonged to root"},
		{name: "by a name that leads here", url: page("/ui/lessons"), client: browser, header: "Host", value: "example.org", want: http.StatusForbidden},
		{name: "from a web page", url: page("/ui/lessons"), client: browser, header: "Origin", value: "http://example.org", want: http.StatusForbidden},
		{name: "a form of a web page", method: http.MethodPost, url: page("/ui/lessons/l-1/forget"), client: browser, want: http.StatusForbidden},
		{name: "the API", url: page("/v1/status"), client: browser, want: http.StatusNotFound},
	} {
		t.Run(step.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), step.method, step.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if step.header == "Host" {
				r.Host = step.value
			} else if step.header != "" {
				r.Header.Set(step.header, step.value)
			}
			answer, err := step.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != step.want || !strings.Contains(string(text), step.text) {
				t.Errorf("status %d, want %d and %q: %v, %.500s", answer.StatusCode, step.want, step.text, err, text)
			}
		})
	}
}
