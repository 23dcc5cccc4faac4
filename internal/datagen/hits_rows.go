package datagen

import (
	"math"
	"slices"
)

// hit is a row of Hits before it is written. The columns follow from it.
type hit struct {
	number uint64 // of the row
	dice   uint64 // of the row, for columns that follow from nothing else
	user   uint64
	phrase uint64 // what was searched for; 0: nothing
	page   pageAt
	from   pageAt // the page before; its site is noSite where there was none
	at     int64  // seconds since 1970
	site   int32  // CounterID
}

// pageAt is a page of a site. Page 0 is its front page.
type pageAt struct {
	site   int32 // CounterID
	number uint32
}

const noSite, searchSite = -1, -2 // no page, and the search engine's

// draws is a stream of random numbers; its seed says which.
type draws struct{ state uint64 }

func drawsOf(seed, what uint64) *draws { return &draws{scramble(seed ^ scramble(what))} }

func (d *draws) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	return scramble(d.state)
}

func (d *draws) below(n uint64) uint64 { return d.next() % n }

// unit is from 0 up to 1.
func (d *draws) unit() float64 { return float64(d.next()>>11) / (1 << 53) }

// skewed is from 0 up to n, more often near 0: the commonest of n values has
// n^(-1/power) of the draws.
func (d *draws) skewed(n float64, power float64) uint64 {
	return uint64(n * math.Pow(d.unit(), power))
}

// shuffled is the numbers below n in random order.
func (d *draws) shuffled(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := int(d.below(uint64(i + 1)))
		order[i], order[j] = order[j], i
	}
	return order
}

// How users, sessions and phrases come about; chosen so that the shares that
// the doc of Hits names come out.
const (
	usersPerRow    = .26 // those that there could be
	userSkew       = 2
	hitsPerSession = 3.2
	searching      = .235 // of the sessions begin with a search
	searchingOn    = .46  // of those hits are followed by another from the search
	rarePhrase     = .8   // of the searches are for what hardly anybody searches
	phrasesPerRow  = .08  // rare ones that there could be
	commonPhrases  = .01  // likewise, the others
	phraseSkew     = 3
	frontPage      = .7  // of a site's hits, by site up to
	pagesPerRow    = .19 // of a site
	pageSkew       = 2
	secondsToNext  = 45
)

// cell makes the n rows of a site and day, of which the first has a number.
func (s *sites) cell(site, day int, number int64, n int) []hit {
	draw := drawsOf(s.seed, uint64(site)<<8|uint64(day)|1<<40)
	users := s.users(draw, n)
	c := cellDraws{draws: draw, sites: s, site: s.ids[site], pages: s.pages(site)}
	c.front = frontPage * float64(scramble(uint64(c.site))%1000) / 1000
	out := make([]hit, 0, n)
	for i := 0; i < n; {
		begin := int64(hitsFirstDay+day)*secondsPerDay + int64(draw.below(secondsPerDay))
		end := i + 1
		for end < n && users[end] == users[i] {
			end++
		}
		out = c.session(out, users[i], begin, end-i)
		i = end
	}
	for i := range out {
		out[i].number = uint64(number) + uint64(i)
	}
	return out
}

// users is who makes the n hits of a cell, in the order of a hash.
func (s *sites) users(draw *draws, n int) []uint64 {
	users := make([]uint64, 0, n)
	for len(users) < n {
		user := draw.skewed(max(usersPerRow*float64(s.rows), 1), userSkew)
		length := 1 + int(-(hitsPerSession-1)*math.Log(1-draw.unit()))
		for range min(length, n-len(users)) {
			users = append(users, user)
		}
	}
	slices.SortFunc(users, func(a, b uint64) int {
		switch ha, hb := scramble(a), scramble(b); {
		case ha < hb:
			return -1
		case ha > hb:
			return 1
		}
		return 0
	})
	return users
}

// pages is how many pages a site has.
func (s *sites) pages(site int) float64 {
	first := int64(0)
	if site > 0 {
		first = s.above[site-1]
	}
	return max(pagesPerRow*float64(s.above[site]-first), 1)
}

// cellDraws draws the hits of a cell.
type cellDraws struct {
	*draws
	sites *sites
	site  int32
	pages float64
	front float64 // share of the front page
}

// session appends a user's hits.
func (c *cellDraws) session(out []hit, user uint64, begin int64, n int) []hit {
	phrase := c.search(c.unit() < searching)
	from := c.entry(phrase)
	for range n {
		h := hit{dice: c.next(), user: user, phrase: phrase, page: c.page(), from: from, at: begin, site: c.site}
		out = append(out, h)
		begin += int64(-secondsToNext * math.Log(1-c.unit()))
		from = h.page
		if phrase = c.search(phrase != 0 && c.unit() < searchingOn); phrase != 0 {
			from = c.entry(phrase)
		}
	}
	return out
}

// search is what is searched for, or 0.
func (c *cellDraws) search(any bool) uint64 {
	switch rows := float64(c.sites.rows); {
	case !any:
		return 0
	case c.unit() < rarePhrase:
		return 1 + uint64(commonPhrases*rows) + c.below(uint64(phrasesPerRow*rows)+1)
	default:
		return 1 + c.skewed(commonPhrases*rows, phraseSkew)
	}
}

// entry is where a session comes from.
func (c *cellDraws) entry(phrase uint64) pageAt {
	switch other := c.unit(); {
	case phrase != 0:
		return pageAt{searchSite, 0}
	case other < .45:
		return pageAt{noSite, 0}
	case other < .6:
		return pageAt{c.site, 0}
	default:
		place := c.skewed(hitsSites, 2)
		return pageAt{c.sites.ids[place], uint32(c.skewed(c.sites.pages(int(place)), pageSkew))}
	}
}

func (c *cellDraws) page() pageAt {
	if c.unit() < c.front {
		return pageAt{c.site, 0}
	}
	return pageAt{c.site, uint32(c.skewed(c.pages, pageSkew))}
}
