package journal

import (
	"bytes"
	"fmt"
)

// Members calls each with the names and the values, as they stand, of a JSON
// object. It relies on the object being valid JSON, as what the journal holds
// is, and never reads beyond it if it is not. Names are not unescaped.
func Members(object []byte, each func(name, value []byte) error) error {
	i := space(object, 0)
	if i == len(object) || object[i] != '{' {
		return fmt.Errorf("no JSON object: %.40q", object)
	}
	for i++; ; {
		i = space(object, i)
		if i < len(object) && object[i] == ',' {
			i = space(object, i+1)
		}
		if i < len(object) && object[i] == '}' {
			return nil
		}
		end := skip(object, i)
		at := space(object, end)
		if i >= len(object) || object[i] != '"' || at >= len(object) || object[at] != ':' {
			return fmt.Errorf("a damaged JSON object: %.40q", object)
		}
		name := object[i+1 : end-1]
		at = space(object, at+1)
		if i = skip(object, at); i == at {
			return fmt.Errorf("a damaged JSON object: %.40q", object)
		}
		if err := each(name, object[at:i:i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

func space(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skip returns where the value that begins at i ends, i where none does.
func skip(s []byte, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			end := closing(s, i+1)
			if i = end; depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				if depth < 0 { // the end of what the value stands in
					return i
				}
				return i + 1
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// closing returns what is behind the string whose text begins at i.
func closing(s []byte, i int) int {
	for {
		n := bytes.IndexByte(s[i:], '"')
		if n < 0 {
			return len(s)
		}
		quote := i + n
		back := quote
		for back > i && s[back-1] == '\\' {
			back--
		}
		if i = quote + 1; (quote-back)%2 == 0 {
			return i
		}
	}
}
