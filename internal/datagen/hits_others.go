package datagen

import "strings"

// otherColumns is the columns that no question is about. They make the file as
// wide as the real one; most of them are nearly always the same there, too.
func otherColumns() []hitColumn {
	var columns []hitColumn
	for i, name := range strings.Fields(`Age ClientTimeZone CookieEnable CounterClass FlashMajor FlashMinor
		GoodEvent HTTPError HasGCLID HistoryLength Income Interests IsArtifical IsEvent IsMobile IsNotBounce IsOldCounter
		IsParameter JavaEnable JavascriptEnable NetMajor NetMinor OS ParamCurrencyID RefererCategoryID ResolutionDepth
		ResolutionHeight Robotness Sex SilverlightVersion1 SilverlightVersion2 SilverlightVersion4 SocialSourceNetworkID
		URLCategoryID UserAgent UserAgentMajor WithHash`) {
		columns = append(columns, shortColumn(name, fewOfUser(uint64(i))))
	}
	for i, name := range strings.Fields(`CLID CodeVersion OpenerName RefererRegionID RemoteIP
		SilverlightVersion3 URLRegionID WindowName IPNetworkID`) {
		columns = append(columns, intColumn(name, fewOfUser(uint64(i)+100)))
	}
	for i, name := range strings.Fields(`HID SendTiming DNSTiming ConnectTiming ResponseStartTiming ResponseEndTiming FetchTiming`) {
		columns = append(columns, intColumn(name, func(h *hit) int64 { return int64(h.roll(uint64(i)+200, 30_000)) }))
	}
	columns = append(columns,
		longColumn("FUniqID", func(h *hit) int64 { return int64(h.ofUser(300, 1<<62)) }),
		longColumn("ParamPrice", func(*hit) int64 { return 0 }),
		timeColumn("ClientEventTime", func(h *hit) int64 { return h.at + int64(h.ofUser(301, 7200)) }),
		timeColumn("LocalEventTime", func(h *hit) int64 { return h.at + 4*3600 }),
		textColumn("OriginalURL", func(b []byte, h *hit) []byte {
			if h.roll(302, 100) >= 8 {
				return b
			}
			return appendURL(b, h.from)
		}),
		textColumn("HitColor", func(b []byte, h *hit) []byte { return append(b, "ESTDF"[h.roll(303, 25)/5]) }))
	for i, name := range strings.Fields(`BrowserCountry BrowserLanguage FlashMinor2 FromTag OpenstatAdID OpenstatCampaignID
		OpenstatServiceName OpenstatSourceID PageCharset ParamCurrency ParamOrderID Params SocialAction SocialNetwork
		SocialSourcePage UTMCampaign UTMContent UTMMedium UTMSource UTMTerm UserAgentMinor`) {
		columns = append(columns, textColumn(name, func(b []byte, h *hit) []byte {
			if h.ofUser(uint64(i)+400, 40) > 0 {
				return b
			}
			return append(b, latin[h.ofUser(uint64(i)+500, 50)]...)
		}))
	}
	return columns
}

// fewOfUser is mostly 0, and of a user else one of some.
func fewOfUser(column uint64) func(h *hit) int64 {
	most := 2 + scramble(column)%60
	return func(h *hit) int64 {
		if h.ofUser(column+600, 10) < 6 {
			return 0
		}
		return int64(h.ofUser(column+700, most))
	}
}
