package records

// people are of one script: given names, family names, how they stand together.
type people struct {
	given, family []string
	between       string
	familyFirst   bool
}

// population has a row for each share of people; common scripts come twice.
// Names with combining characters are written decomposed, as some systems send
// them: they must not be composed on the way.
var population = []people{
	{given: []string{"Mary", "James", "Patricia", "Robert", "Jennifer", "Michael", "Linda", "David"}, family: []string{"Smith", "Johnson", "O'Neill", "Brown", "Garcia", "Miller-Jones", "Davis", "Ng"}, between: " "},
	{given: []string{"Ashley", "Kevin", "Ruth", "Tyrone", "Grace", "Wm.", "Dolores", "Ed \"Buzz\""}, family: []string{"Washington", "Lee", "Nguyen", "Jackson III", "McDonald", "Fitzgerald", "Kowalski", "St. John"}, between: " "},
	{given: []string{"José", "María", "Jesús", "Inés", "Ángel", "Concepción"}, family: []string{"Núñez", "García Márquez", "Peña", "Ibáñez", "Gutiérrez"}, between: " "},
	{given: []string{"Jürgen", "Zoë", "Søren", "Łukasz", "Chloé", "Ægir"}, family: []string{"Müller", "Groß", "Ångström", "Wałęsa", "Lefèvre", "Šimůnek"}, between: " "},
	{given: []string{"Zoe\u0308", "Andre\u0301", "Ngo\u0323c", "Thu\u0309y"}, family: []string{"Nguye\u0302\u0303n", "Tra\u0302\u0300n", "Le\u0302", "Pha\u0323m"}, between: " "},
	{given: []string{"Анна", "Дмитрий", "Светлана", "Сергій"}, family: []string{"Иванова", "Достоевский", "Шевченко", "Ћирић"}, between: " "},
	{given: []string{"Ελένη", "Γιώργος"}, family: []string{"Παπαδοπούλου", "Νικολαΐδης"}, between: " "},
	{given: []string{"محمد", "فاطمة", "عائشة"}, family: []string{"الخطيب", "بن علي", "حسن"}, between: " "},
	{given: []string{"רחל", "יוסף"}, family: []string{"כהן", "לוי"}, between: " "},
	{given: []string{"प्रिया", "अर्जुन", "लक्ष्मी"}, family: []string{"शर्मा", "पटेल", "सिंह"}, between: " "},
	{given: []string{"สมชาย", "มาลี"}, family: []string{"ใจดี", "แสงทอง"}, between: " "},
	{given: []string{"伟", "秀英", "小龙", "𠮷"}, family: []string{"王", "李", "欧阳", "張"}, familyFirst: true},
	{given: []string{"さくら", "健太", "メアリー"}, family: []string{"佐藤", "髙橋", "渡邉"}, between: "\u3000", familyFirst: true},
	{given: []string{"민준", "서연"}, family: []string{"김", "박", "남궁"}, familyFirst: true},
}

// name writes a name.
func (m *maker) name(d *draw) {
	p := one(d, population[:])
	if d.percent(55) { // most are of the first rows
		p = &population[d.below(4)]
	}
	first, second := *one(d, p.given), *one(d, p.family)
	if p.familyFirst {
		first, second = second, first
	}
	m.words.WriteString(first)
	m.words.WriteString(p.between)
	m.words.WriteString(second)
}

// patientOf draws whose statement i is: records that stand near each other are
// mostly of a few people, of whom some have many.
func (d *draw) patientOf(i uint64) uint64 {
	const records, patients = 64, 16 // of a block
	block := i / records
	if d.percent(10) {
		block = d.Uint64() % (block + 1)
	}
	return block*patients + uint64(min(d.below(patients), d.below(patients))) //nolint:gosec // small
}

// identify says which statement it is, whose, and where it comes from.
func (m *maker) identify(i int) {
	n := uint64(i) //nolint:gosec // not negative
	m.patient = m.patientOf(n)
	s := &m.statement
	s.StatementID = m.text(func() { m.id(kindStatement, n) })
	own := newDraw(m.seed, m.patient<<1|1<<63) // of the patient, for all statements
	m.subject.Reference = m.text(func() { m.words.WriteString("Patient/"); m.id(kindPatient, m.patient) })
	if own.percent(80) {
		m.subject.Display = m.text(func() { m.name(&own) })
	}
	s.Subject = &m.subject
	if m.percent(50) {
		visit := m.patient<<4 | uint64(m.below(8)) //nolint:gosec // small
		s.VisitID = m.text(func() { m.id(kindVisit, visit) })
	}
	switch from := m.below(100); {
	case from < 40:
		m.source = m.subject
	case from < 75:
		const practitioners = 2000
		n := uint64(m.below(practitioners)) //nolint:gosec // small
		who := newDraw(m.seed, n<<1|1<<62)
		m.source.Reference = m.text(func() { m.words.WriteString("Practitioner/"); m.id(kindPractitioner, n) })
		m.source.Display = m.text(func() { m.words.WriteString("Dr. "); m.name(&who) })
	case from < 80:
		m.source.Reference = m.text(func() { m.words.WriteString("RelatedPerson/"); m.id(kindPatient, m.patient) })
	default:
		return
	}
	s.InformationSource = &m.source
}
