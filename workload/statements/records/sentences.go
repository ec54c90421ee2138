package records

// What people write into records. Some of it is what parsers stumble over:
// quotes, tags, control characters that JSON escapes, emoji of several code
// points, text that runs from right to left.
var (
	sentences = []string{
		"Patient reports taking it as prescribed.",
		"Misses the occasional dose, mostly on weekends.",
		"Bottle seen; label and count agree with the report.",
		"Pt c/o dry mouth & dizziness after 2nd dose; BP 118/76, HR <60.",
		"Daughter fills a weekly pill box for her.",
		"Unsure of the strength: \"the small white one\".",
		"Started by an outside provider, records requested.",
		"Tolerates it well 👍🏽, wants to go on.",
		"Dose was doubled by the patient on their own; counselled.\nWill call back in a week.",
		"Stopped for surgery, to be resumed afterwards.",
		"Takes it with grapefruit juice ☕→ advised against.",
		"Cost is a concern; asked about a generic.",
		"Se toma la pastilla por la mañana con el desayuno; a veces se le olvida.",
		"Nimmt die Tabletten unregelmäßig, trotz Aufklärung über die Gefahren.",
		"La patiente dit qu'elle a arrêté d'elle-même il y a 3 semaines.",
		"Принимает нерегулярно, жалуется на головную боль.",
		"患者自述每日饭后服用，无明显不适。",
		"毎朝食後に服用。飲み忘れは月に1〜2回程度。",
		"복용 후 가벼운 어지러움을 호소함.",
		"المريض يتناول الدواء بانتظام بعد الأكل.",
		"נוטלת את התרופה לפני השינה.",
		"रोगी भोजन के बाद दवा लेता है।",
		"ผู้ป่วยรับประทานยาหลังอาหารเช้า",
		"Bệnh nhân uống thuốc đều đặn mỗi sáng.",
		"Family 👨‍👩‍👧‍👦 has been told what to look out for.",
		"Level 4.2 µg/mL (ref. 5–15), ≥ 2 h after intake.",
		"Refill #3 of 5; next on or about the 14th.\tPharmacy: 24 h",
	}
	stopReasons = []string{
		"Rash", "Cost", "Course completed", "Side effects: nausea, vomiting", "Patient's choice", "Replaced by a generic",
		"Before surgery", "Keine Wirkung", "Efectos secundarios", "副作用", "Pregnancy", "Lab values out of range",
	}
	instructions = []string{
		"Take with food.", "Do not crush or chew.", "Avoid alcohol.", "May cause drowsiness; do not drive.",
		"Finish all of it, even if you feel better.", "Keep refrigerated (2–8 °C).", "Tómese con un vaso de agua.",
		"Take on an empty stomach, at least 30 minutes before breakfast, with a full glass of water; stay upright.",
		"饭后服用", "Rinse mouth after use.",
	}
)
