package redact

// maxHalf is how far from a cut half a secret is looked for, in bytes: the
// longest JSON web tokens that servers take in a header.
const maxHalf = 8 << 10

// Ends redacts a text whose middle is not there: head is its beginning and tail
// its end. Where it was cut, half a secret may stand that no longer looks like
// one, so the broken word goes too, on both sides. The count is of the secrets
// that were found.
func Ends(head, tail string) (string, string, int) {
	head, n := Text(head)
	tail, m := Text(tail)
	i := len(head)
	for i > 0 && len(head)-i < maxHalf && !breaks[head[i-1]] {
		i--
	}
	j := 0
	for j < len(tail) && j < maxHalf && !breaks[tail[j]] {
		j++
	}
	for i > 0 && i < len(head) && head[i]&0xc0 == 0x80 {
		i--
	}
	for j < len(tail) && tail[j]&0xc0 == 0x80 {
		j++
	}
	return head[:i], tail[j:], n + m
}

// breaks end a word: no key, and no line of a key block, has one of them in it.
// A "]" may end what stands for a secret.
var breaks = setOf(" \t\r\n\"'`\\<>,;(){}]|&")
