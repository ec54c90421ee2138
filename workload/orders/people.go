package orders

import (
	"strconv"
	"sync"
)

// people is who orders, by place: written for this workload, and not a census.
// Names take one to four bytes a letter, as in any service that is open to all.
var people = []struct {
	currency    string
	familyFirst bool // and no space between
	given       []string
	family      []string
}{
	{
		currency: "EUR",
		given: []string{
			"Zoë", "Jürgen", "Chloé", "José", "Inês", "Ursula", "Noël", "Marta", "Ľubica", "Anna",
			"Maria", "Françoise", "Peter", "Ainhoa", "Siobhán", "Luca", "Tiiu", "Jan", "Žan", "Mārtiņš",
		},
		family: []string{
			"Müller", "García Ñíguez", "Dubois", "Ó Súilleabháin", "Rossi", "van den Berg", "Gonçalves", "Kováčová", "Öztürk",
			"Lambert", "Weiß", "Šimkutė", "Schmidt", "Kos", "Bērziņš", "Etxeberria", "D'Amico", "Meyer-Landrut", "Silva", "Vella",
		},
	},
	{
		currency: "USD",
		given: []string{
			"James", "Mary", "DeShawn", "Renée", "Michael", "Linda", "Xóchitl", "Kai", "Robert", "Elizabeth", "Jo", "William",
			"Patricia", "David", "Barbara", "Susan", "Tyrone", "Guadalupe", "Ethan", "Nguyễn Anh",
		},
		family: []string{
			"Smith", "Johnson", "O'Brien", "Peña", "Washington", "Li", "McCarthy", "Nakamura", "Kealoha", "Trần", "Jones Jr.",
			"Abernathy-Wu", "Williams", "Brown", "Davis", "Martinez", "Begay", "Anderson", "Thomas", "Moore",
		},
	},
	{
		currency: "GBP",
		given:    []string{"Oliver", "Siân", "Amelia", "Rhys", "Isla", "Mohammed", "Eilidh", "Graham", "Harry", "Priti", "Nigel", "Wendy"},
		family: []string{
			"Taylor", "Llewellyn", "MacDonald", "Patel", "Featherstonehaugh", "Brontë", "Khan", "Ng", "Evans", "Wood", "Clarke", "Okafor",
		},
	},
	{
		currency: "SEK",
		given:    []string{"Åsa", "Björn", "Måns", "Elin", "Göran", "Siv", "Örjan", "Linnéa"},
		family:   []string{"Åkerström", "Lindqvist", "Sjögren", "Öberg", "Nordenskiöld", "Ek", "Hägg", "Johansson"},
	},
	{
		currency: "EUR",
		given:    []string{"Γιώργος", "Ελένη", "Νίκος", "Αθηνά", "Σοφία", "Οδυσσέας"},
		family:   []string{"Παπαδόπουλος", "Αγγελοπούλου", "Βλάχος", "Δήμου", "Καζαντζάκης", "Ξένου"},
	},
	{
		currency: "UAH",
		given:    []string{"Олена", "Тарас", "Юлія", "Богдан", "Наталія", "Їжакевич-Іван"},
		family:   []string{"Шевченко", "Коваль", "Лисенко", "Гнатюк", "Бондаренко", "Щербак"},
	},
	{
		currency: "ILS",
		given:    []string{"נועה", "דוד", "תמר", "יוסף"},
		family:   []string{"כהן", "לוי", "בן־דוד", "מזרחי"},
	},
	{
		currency: "KWD",
		given:    []string{"فاطمة", "محمد", "نور", "عبد الله"},
		family:   []string{"الصباح", "العنزي", "المطيري", "بن خالد"},
	},
	{
		currency: "INR",
		given:    []string{"आरव", "प्रिया", "संजय", "दीपिका", "ராஜன்", "মৌসুমী"},
		family:   []string{"शर्मा", "पटेल", "मुखर्जी", "कृष्णमूर्ति", "சுப்பிரமணியம்", "চট্টোপাধ্যায়"},
	},
	{
		currency: "JPY", familyFirst: true,
		given:  []string{"さくら", "健太", "美咲", "大翔", "ゆい", "一郎"},
		family: []string{"佐藤", "髙橋", "渡邉", "小鳥遊", "林", "𠮷田"},
	},
	{
		currency: "KRW", familyFirst: true,
		given:  []string{"민준", "서연", "지우", "하은"},
		family: []string{"김", "이", "박", "남궁"},
	},
	{
		currency: "CNY", familyFirst: true,
		given:  []string{"伟", "秀英", "子涵", "建国"},
		family: []string{"王", "李", "欧阳", "陈"},
	},
}

// customer is a user and the currency in which that user pays.
type customer struct{ name, currency string }

// roster is every given name with every family name of its place.
var roster = sync.OnceValue(func() []customer {
	var all []customer
	for _, place := range people {
		for _, given := range place.given {
			for _, family := range place.family {
				name := given + " " + family
				if place.familyFirst {
					name = family + given
				}
				all = append(all, customer{name, place.currency})
			}
		}
	}
	return all
})

// customerOf gives user n, from 0. No two users have equal names: once the
// roster is used up, a number follows.
func customerOf(n int) customer {
	all := roster()
	c := all[n%len(all)]
	if again := n / len(all); again > 0 {
		c.name += " " + strconv.Itoa(again+1)
	}
	return c
}
