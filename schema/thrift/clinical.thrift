// Visits and medication statements, as tare/clinical/v1 has them: a test holds
// every field to that schema. See wellknown.thrift for how fields are declared.
namespace go clinical

include "failure.thrift"
include "wellknown.thrift"

// VisitStatus is where a visit stands. It moves forward only.
enum VisitStatus {
  // Never sent.
  VISIT_STATUS_INVALID = 0
  // Planned, or begun with nothing done yet.
  VISIT_STATUS_CREATED = 1
  // Under way.
  VISIT_STATUS_IN_PROGRESS = 2
  // Ended and signed.
  VISIT_STATUS_SIGNED = 3
}

// Visit is a visit as it is kept.
struct Visit {
  // Chosen by who created it; unique.
  1: optional string visit_id = ""
  // Where it stands.
  2: optional VisitStatus status = VisitStatus.VISIT_STATUS_INVALID
  // Whose visit it is.
  3: optional string patient_id = ""
  // What was done, in the order in which it was done.
  4: optional list<string> procedure_codes
  // Who signed it; empty until then.
  5: optional string signed_by = ""
  // When it was created.
  6: optional wellknown.Timestamp create_time
  // When it last changed.
  7: optional wellknown.Timestamp update_time
}

// CreateVisitRequest is a visit to keep.
struct CreateVisitRequest {
  // Chosen by the client, unique per visit; the idempotency key.
  1: optional string visit_id = ""
  // Whose visit it is.
  2: optional string patient_id = ""
  // What was done already.
  3: optional list<string> procedure_codes
}

// CreateVisitResponse brings the visit.
struct CreateVisitResponse {
  // The visit as it stands.
  1: optional Visit visit
}

// GetVisitRequest names a visit.
struct GetVisitRequest {
  // Which visit.
  1: optional string visit_id = ""
}

// GetVisitResponse brings a visit.
struct GetVisitResponse {
  // The visit as it stands.
  1: optional Visit visit
}

// ListVisitsRequest asks for a page of visits.
struct ListVisitsRequest {
  // How many visits at most; 50 where it is 0.
  1: optional i32 page_size = 0
  // The next_page_token of the page before; empty for the first.
  2: optional string page_token = ""
  // Only this patient's visits; everybody's where it is empty.
  3: optional string patient_id = ""
}

// ListVisitsResponse is a page of visits.
struct ListVisitsResponse {
  // The visits, the newest first.
  1: optional list<Visit> visits
  // Asks for the page after this one; empty on the last.
  2: optional string next_page_token = ""
}

// UpdateVisitRequest changes a visit.
struct UpdateVisitRequest {
  // Which visit, and its new fields. Those that the mask does not name are not
  // read.
  1: optional Visit visit
  // Which fields change: status, patient_id and procedure_codes can.
  2: optional wellknown.FieldMask update_mask
}

// UpdateVisitResponse brings the visit.
struct UpdateVisitResponse {
  // The visit as it stands after the change.
  1: optional Visit visit
}

// SignVisitRequest ends a visit.
struct SignVisitRequest {
  // Which visit.
  1: optional string visit_id = ""
  // Who signs.
  2: optional string signed_by = ""
}

// SignVisitResponse brings the visit.
struct SignVisitResponse {
  // The visit, signed.
  1: optional Visit visit
}

// Coding is a code of some system.
struct Coding {
  // URI of the system that the code is of.
  1: optional string system = ""
  // The code.
  2: optional string code = ""
  // What it means, in the system's words.
  3: optional string display = ""
}

// CodeableConcept is a notion, as codes or in words.
struct CodeableConcept {
  // Codes of different systems for the same notion.
  1: optional list<Coding> coding
  // The notion in the words of who wrote it down.
  2: optional string text = ""
}

// Reference names another record.
struct Reference {
  // Its type and ID: "Patient/123".
  1: optional string reference = ""
  // How a person calls it.
  2: optional string display = ""
}

// DatePrecision is how much of a time is known.
enum DatePrecision {
  // Never sent.
  DATE_PRECISION_UNSPECIFIED = 0
  // The year.
  DATE_PRECISION_YEAR = 1
  // The month.
  DATE_PRECISION_MONTH = 2
  // The day.
  DATE_PRECISION_DAY = 3
  // The second.
  DATE_PRECISION_SECOND = 4
  // The millisecond.
  DATE_PRECISION_MILLISECOND = 5
}

// DateTime is a time of which only the year, the month or the day may be known.
struct DateTime {
  // Its first moment, in UTC where no more than the day is known.
  1: optional wellknown.Timestamp time
  // How much of it is known.
  2: optional DatePrecision precision = DatePrecision.DATE_PRECISION_UNSPECIFIED
  // The clock that it was read from: minutes east of UTC.
  3: optional i32 utc_offset_minutes = 0
}

// Period is a stretch of time.
struct Period {
  // When it begins; absent where that is not known.
  1: optional DateTime start
  // When it ends; absent where it goes on.
  2: optional DateTime end_
}

// Quantity is so much of something.
struct Quantity {
  // A decimal, as it was written: "0.50" is more exact than "0.5".
  1: optional string value = ""
  // The unit, for people.
  2: optional string unit = ""
  // URI of the system that the code is of.
  3: optional string system = ""
  // The unit, for programs.
  4: optional string code = ""
}

// Timing is how often.
struct Timing {
  // So many times …
  1: optional i32 frequency = 0
  // … in so many …
  2: optional string period = ""
  // … of these: s, min, h, d, wk, mo, a.
  3: optional string period_unit = ""
  // Times of the day: codes such as AC, before a meal.
  4: optional list<string> when_
}

// Dosage is how a medication is taken.
struct Dosage {
  // Its place among the dosages of a statement.
  1: optional i32 sequence = 0
  // All of it, for people.
  2: optional string text = ""
  // What the patient was told.
  3: optional string patient_instruction = ""
  // When.
  4: optional Timing timing
  // Only when needed.
  5: optional bool as_needed = false
  // How it enters the body.
  6: optional CodeableConcept route
  // How much at a time.
  7: optional Quantity dose_quantity
}

// Annotation is a note.
struct Annotation {
  // Who wrote it.
  1: optional string author = ""
  // When.
  2: optional DateTime time
  // What it says.
  3: optional string text = ""
}

// MedicationStatementStatus is where a statement stands, as in FHIR R4.
enum MedicationStatementStatus {
  // Never sent.
  MEDICATION_STATEMENT_STATUS_UNSPECIFIED = 0
  // It is taken.
  MEDICATION_STATEMENT_STATUS_ACTIVE = 1
  // It is not taken any more.
  MEDICATION_STATEMENT_STATUS_COMPLETED = 2
  // The statement should not have been made.
  MEDICATION_STATEMENT_STATUS_ENTERED_IN_ERROR = 3
  // It is to be taken.
  MEDICATION_STATEMENT_STATUS_INTENDED = 4
  // It was stopped before its end.
  MEDICATION_STATEMENT_STATUS_STOPPED = 5
  // It is not taken for the time being.
  MEDICATION_STATEMENT_STATUS_ON_HOLD = 6
  // Nobody knows.
  MEDICATION_STATEMENT_STATUS_UNKNOWN = 7
  // It was never taken.
  MEDICATION_STATEMENT_STATUS_NOT_TAKEN = 8
}

// MedicationStatement is one record, with the fields of FHIR R4's resource that
// such records have. Source: hl7.org/fhir/R4/medicationstatement.html.
struct MedicationStatement {
  // Chosen by who made it; unique.
  1: optional string statement_id = ""
  // Where it stands.
  2: optional MedicationStatementStatus status = MedicationStatementStatus.MEDICATION_STATEMENT_STATUS_UNSPECIFIED
  // Why it stands there.
  3: optional list<CodeableConcept> status_reason
  // Where it is taken: at home, in hospital.
  4: optional CodeableConcept category
  // What is taken.
  5: optional CodeableConcept medication
  // Who takes it.
  6: optional Reference subject
  // The visit that it was made in; empty where there was none.
  7: optional string visit_id = ""
  // The moment when it was taken.
  8: optional DateTime effective_date_time
  // The time through which it was taken.
  9: optional Period effective_period
  // When the statement was made.
  10: optional DateTime date_asserted
  // Who said so.
  11: optional Reference information_source
  // Why it is taken.
  12: optional list<CodeableConcept> reason_code
  // What else there is to say.
  13: optional list<Annotation> note
  // How it is taken.
  14: optional list<Dosage> dosage
}

// Violation is a rule that a statement breaks.
struct Violation {
  // Path of the field: "dosage[0].timing.period_unit".
  1: optional string field = ""
  // What is wrong with it.
  2: optional string description = ""
  // The rule, such as STRING_PATTERN.
  3: optional string reason = ""
}

// Reject is a statement that was not kept.
struct Reject {
  // Its place among all that the call brought, from 0.
  1: optional i64 index = 0
  // The ID that it came with, which may be what is wrong.
  2: optional string statement_id = ""
  // What is wrong, for people.
  3: optional string message = ""
  // Every rule that it breaks, up to 32.
  4: optional list<Violation> violations
}

// GetStatementRequest names a statement.
struct GetStatementRequest {
  // Which statement.
  1: optional string statement_id = ""
}

// GetStatementResponse brings a statement.
struct GetStatementResponse {
  // The statement.
  1: optional MedicationStatement statement
}

// ListStatementsRequest asks for a page of statements.
struct ListStatementsRequest {
  // How many statements at most; 500 where it is 0.
  1: optional i32 page_size = 0
  // The next_page_token of the page before; empty for the first.
  2: optional string page_token = ""
  // Only statements of this subject, "Patient/123"; all where it is empty.
  3: optional string subject = ""
}

// ListStatementsResponse is a page of statements.
struct ListStatementsResponse {
  // The statements, in the order in which they first came.
  1: optional list<MedicationStatement> statements
  // Asks for the page after this one; empty on the last.
  2: optional string next_page_token = ""
}

// BatchWriteRequest brings statements. Their rules are held one by one.
struct BatchWriteRequest {
  // The statements.
  1: optional list<MedicationStatement> statements
}

// BatchWriteResponse says what became of them.
struct BatchWriteResponse {
  // How many are new, or took the place of another.
  1: optional i32 written = 0
  // How many were kept before, just as they came.
  2: optional i32 unchanged = 0
  // The others.
  3: optional list<Reject> rejected
}

// ExportRequest says what to give.
struct ExportRequest {
  // Statements in a message at most; 500 where it is 0.
  1: optional i32 batch_size = 0
  // Only statements of this subject, "Patient/123"; all where it is empty.
  2: optional string subject = ""
  // The resume_token of the last message of an export that broke off: this one
  // goes on behind it. Empty: from the first.
  3: optional string resume_token = ""
}

// ExportResponse brings statements.
struct ExportResponse {
  // The statements.
  1: optional list<MedicationStatement> statements
  // Where another export may go on.
  2: optional string resume_token = ""
}

// ImportRequest brings statements. Their rules are held one by one.
struct ImportRequest {
  // The statements.
  1: optional list<MedicationStatement> statements
}

// ImportResponse says what became of all of them.
struct ImportResponse {
  // How many are new, or took the place of another.
  1: optional i64 written = 0
  // How many were kept before, just as they came.
  2: optional i64 unchanged = 0
  // The others.
  3: optional list<Reject> rejected
}

// SyncRequest brings statements. Their rules are held one by one.
struct SyncRequest {
  // Comes back with the answer.
  1: optional i64 sequence = 0
  // The statements.
  2: optional list<MedicationStatement> statements
}

// SyncResponse says what became of the statements of one message, which are
// kept by then.
struct SyncResponse {
  // Of the message.
  1: optional i64 sequence = 0
  // How many are new, or took the place of another.
  2: optional i32 written = 0
  // How many were kept before, just as they came.
  3: optional i32 unchanged = 0
  // The others; an index counts all that the call brought.
  4: optional list<Reject> rejected
}

// VisitService keeps visits.
service VisitService {
  // CreateVisit keeps a new visit, as CREATED. Repeating a visit_id with the
  // same content gives the same answer; with other content it is
  // ALREADY_EXISTS.
  CreateVisitResponse CreateVisit(1: CreateVisitRequest request) throws (1: failure.Failure failure)
  // GetVisit gives one visit as it stands.
  GetVisitResponse GetVisit(1: GetVisitRequest request) throws (1: failure.Failure failure)
  // ListVisits gives visits a page at a time, the newest first. A visit that
  // comes in while pages are turned is on none of them, and moves none.
  ListVisitsResponse ListVisits(1: ListVisitsRequest request) throws (1: failure.Failure failure)
  // UpdateVisit changes the fields that a mask names. A visit that is signed is
  // not changed any more, and no status goes back: both are
  // FAILED_PRECONDITION.
  UpdateVisitResponse UpdateVisit(1: UpdateVisitRequest request) throws (1: failure.Failure failure)
  // SignVisit ends a visit. One that is signed by the same person already is
  // given as it stands; by another, it is FAILED_PRECONDITION.
  SignVisitResponse SignVisit(1: SignVisitRequest request) throws (1: failure.Failure failure)
}

// StatementService moves medication statements, in bulk. Every way to write
// takes each statement by itself: one that breaks a rule is reported, and the
// others are kept. A statement of an ID that is kept already takes its place.
service StatementService {
  // GetStatement gives one statement.
  GetStatementResponse GetStatement(1: GetStatementRequest request) throws (1: failure.Failure failure)
  // ListStatements gives statements a page at a time, in the order in which they
  // first came. One that comes in while pages are turned is on the last of them.
  ListStatementsResponse ListStatements(1: ListStatementsRequest request) throws (1: failure.Failure failure)
  // BatchWrite keeps the statements of one message in one commit.
  BatchWriteResponse BatchWrite(1: BatchWriteRequest request) throws (1: failure.Failure failure)
}
