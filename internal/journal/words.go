package journal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is a word of a text as it is searched: letters and digits, in lower case
// and without accents. A character of a script that writes without spaces is a
// word by itself.
type Word struct {
	Text       string
	Start, End int // bytes in the text
}

// maxWord is the longest word in bytes that is searched whole; what is longer
// is no word that a person types.
const maxWord = 64

// Words takes a text apart.
func Words(text string) []Word {
	var out []Word
	var b strings.Builder
	start := -1
	end := func(at int) {
		if start >= 0 && b.Len() > 0 {
			out = append(out, Word{Text: b.String(), Start: start, End: at})
		}
		start = -1
		b.Reset()
	}
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case r < utf8.RuneSelf && !alphanumeric[r], r == utf8.RuneError && n == 1:
			end(i)
		case r < utf8.RuneSelf || !alone(r) && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			if start < 0 {
				start = i
			}
			if b.Len() < maxWord {
				plainly(&b, r)
			}
		case unicode.Is(unicode.Mn, r): // an accent behind its letter
		case alone(r):
			end(i)
			out = append(out, Word{Text: text[i : i+n], Start: i, End: i + n})
		default:
			end(i)
		}
		i += n
	}
	end(len(text))
	return out
}

var alphanumeric = func() (is [utf8.RuneSelf]bool) {
	for r := range is {
		is[r] = r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return is
}()

// alone says that the character's script puts no spaces between words.
func alone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// plainly writes the letter as it is searched.
func plainly(b *strings.Builder, r rune) {
	r = unicode.ToLower(r)
	if r >= 0xdf && r < 0x1eff {
		if plain, ok := plainOf[r]; ok {
			b.WriteString(plain)
			return
		}
	}
	b.WriteRune(r)
}

// plainOf gives letters of the Latin and Greek alphabets without their accents.
var plainOf = func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ς': "σ"}
	for plain, accented := range map[string]string{
		"a": "àáâãäåāăąǎạảấầẩẫậắằẳẵặ", "c": "çćĉċč", "d": "ď", "e": "èéêëēĕėęěẹẻẽếềểễệ", "g": "ĝğġģ", "h": "ĥħ", "i": "ìíîïĩīĭįǐỉị",
		"j": "ĵ", "k": "ķ", "l": "ĺļľŀ", "n": "ñńņňŉ", "o": "òóôõöōŏőǒọỏốồổỗộơớờởỡợ", "r": "ŕŗř", "s": "śŝşšș", "t": "ţťŧț",
		"u": "ùúûüũūŭůűųǔụủưứừửữự", "w": "ŵ", "y": "ýÿŷỳỵỷỹ", "z": "źżž",
		"α": "ά", "ε": "έ", "η": "ή", "ι": "ίϊΐ", "ο": "ό", "υ": "ύϋΰ", "ω": "ώ",
	} {
		for _, r := range accented {
			m[r] = plain
		}
	}
	return m
}()
