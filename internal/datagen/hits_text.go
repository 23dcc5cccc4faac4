package datagen

import (
	"fmt"
	"strconv"
)

// The words that texts are made of: the letters of cyrillic take two bytes,
// as most in the real table's titles and searches do.
var (
	latin    = words(1, 1500, []string{"ba", "ko", "ri", "st", "e", "o", "na", "mi", "li", "a", "tor", "vi", "de", "se", "pu", "in"})
	cyrillic = words(2, 4000, []string{"ка", "ро", "ни", "ст", "е", "о", "на", "ми", "ли", "а", "тор", "ви", "де", "се", "пу", "ин"})
)

// phones is the models of mobile phones; the first is none.
var phones = append([]string{"", "iPad", "iPhone", "A500", "N8-00", "iPho", "ONE TOUCH 6030A", "GT-P7300B", "3110000", "GT-I9500", "eagle75"}, models()...)

func models() []string {
	var out []string
	for i := range 156 {
		out = append(out, fmt.Sprintf("GT-%c%d", 'A'+i%26, 1000+i*37))
	}
	return out
}

// words makes n words of two to four syllables.
func words(seed uint64, n int, syllables []string) []string {
	draw := drawsOf(seed, 3)
	out := make([]string, n)
	for i := range out {
		for range 2 + draw.below(3) {
			out[i] += syllables[draw.below(uint64(len(syllables)))]
		}
	}
	return out
}

// phonesOf is the shares of the models, of 10,000 users that have one.
var phonesOf = []uint64{0, 9150, 384, 135, 47, 28, 23, 16, 16, 13, 12}

// phoneOf is the number of a user's model.
func phoneOf(h *hit) int64 {
	if h.ofUser(10, 1000) >= 62 {
		return 0
	}
	return share(h.ofUser(11, 1<<40), phonesOf, uint64(len(phones)))
}

// mobilePhone is the maker of the model, which is often told wrongly.
func mobilePhone(h *hit) int64 {
	model := phoneOf(h)
	switch {
	case model == 0:
		return 0
	case h.ofUser(12, 100) < 85:
		return 1 + model%43
	}
	return int64(1 + h.ofUser(13, 43))
}

// appendWords appends words until there are about so many bytes more.
func appendWords(b []byte, draw *draws, vocabulary []string, between byte, bytes int) []byte {
	for end := len(b) + bytes; len(b) < end; {
		b = append(b, vocabulary[draw.skewed(float64(len(vocabulary)), 1.5)]...)
		b = append(b, between)
	}
	return b[:len(b)-1]
}

// of draws what a page has.
func (p pageAt) of(what uint64) *draws {
	return drawsOf(uint64(uint32(p.site))<<32|uint64(p.number), what)
}

// appendURL appends the address of a page; nothing if there is none. One in 6,000 names
// google; one in 50 has a long tail.
func appendURL(b []byte, p pageAt) []byte {
	if p.site == noSite {
		return b
	}
	draw := p.of(4)
	b = append(b, "http://"...)
	if uint32(p.site)%3 == 0 {
		b = append(b, "www."...)
	}
	b = append(b, latin[scramble(uint64(uint32(p.site)))%uint64(len(latin))]...)
	b = strconv.AppendInt(b, int64(p.site)%97, 10)
	b = append(b, ".ru/"...)
	if p.number == 0 {
		return b
	}
	b = appendWords(b, draw, latin, '/', 26+int(draw.below(70)))
	switch dice := draw.below(6000); {
	case dice == 0:
		b = append(b, "/google"...)
	case dice < 120:
		b = append(b, "?text="...)
		b = appendWords(b, draw, cyrillic, '+', 200+int(draw.below(600)))
	case dice < 2400:
		b = append(b, "?page="...)
		b = appendWords(b, draw, latin, '&', 10+int(draw.below(60)))
	}
	b = append(b, '/')
	return strconv.AppendUint(b, uint64(p.number), 36)
}

// appendTitle appends the title of the page; two pages in three have their own, one in 7 none.
func appendTitle(b []byte, h *hit) []byte {
	p := h.page
	p.number -= p.number % 3 / 2
	draw := p.of(5)
	switch dice := draw.below(7000); {
	case dice < 1000:
		return b
	case dice < 1003:
		b = append(b, "Google "...)
	}
	b = appendWords(b, draw, cyrillic, ' ', 30+int(draw.below(120)))
	b = append(b, " - "...)
	return append(b, latin[scramble(uint64(uint32(p.site)))%uint64(len(latin))]...)
}

// appendReferer appends the address of the page before, or of the search.
func appendReferer(b []byte, h *hit) []byte {
	if h.from.site != searchSite {
		return appendURL(b, h.from)
	}
	b = append(b, [...]string{"http://yandex.ru/yandsearch?text=", "http://www.google.ru/search?q=", "http://go.mail.ru/search?q="}[h.phrase%7/3]...)
	return appendPhrase(b, h.phrase)
}

// appendPhrase appends what is searched for; one phrase in ten is Latin.
func appendPhrase(b []byte, phrase uint64) []byte {
	if phrase == 0 {
		return b
	}
	draw := drawsOf(phrase, 6)
	vocabulary := cyrillic
	if phrase%10 == 3 {
		vocabulary = latin
	}
	return appendWords(b, draw, vocabulary, ' ', 8+int(draw.below(70)))
}
