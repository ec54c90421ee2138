# Made of proto/ by a test of codec/capnp/idl: run make generate, and change nothing here.
@0x8c945af784350f80;
using Go = import "/go.capnp";
$Go.package("clinical");
$Go.import("github.com/tare-bench/tare/gen/capnp/clinical");

interface StatementService @0x88f836feb279c947 {
  # StatementService moves medication statements, in bulk. Every way to write
  # takes each statement by itself: one that breaks a rule is reported, and the
  # others are kept. A statement of an ID that is kept already takes its place.
  getStatement @0 GetStatementRequest -> GetStatementResult;
  # GetStatement gives one statement.
  listStatements @1 ListStatementsRequest -> ListStatementsResult;
  # ListStatements gives statements a page at a time, in the order in which they
  # first came. One that comes in while pages are turned is on the last of them.
  batchWrite @2 BatchWriteRequest -> BatchWriteResult;
  # BatchWrite keeps the statements of one message in one commit.
  export @3 (request :ExportRequest, replies :ExportReplies) -> (failure :Failure);
  # Export gives all statements as the database reads them, in the order in
  # which they first came, as they stood when the call began.
  import @4 () -> (requests :ImportRequests);
  # Import keeps all statements that come, a commit for each message. Where the
  # call ends without an answer some may have been kept: to repeat it is safe.
  sync @5 (replies :SyncReplies) -> (requests :SyncRequests);
  # Sync is Import with an answer to each message once it is kept, so that who
  # sends knows where to go on after a failure.
}

enum DatePrecision @0x988f5a3c3de0143c {
  # DatePrecision is how much of a time is known.
  unspecified @0;
  year @1;
  month @2;
  day @3;
  second @4;
  millisecond @5;
}

enum MedicationStatementStatus @0xf22b8e82fb5e257c {
  # MedicationStatementStatus is where a statement stands, as in FHIR R4.
  unspecified @0;
  active @1;
  completed @2;
  enteredInError @3;
  intended @4;
  stopped @5;
  onHold @6;
  unknown @7;
  notTaken @8;
}

struct Coding @0x98c050592e41963a {
  # Coding is a code of some system.
  system @0 :Text;
  # URI of the system that the code is of.
  code @1 :Text;
  # The code.
  display @2 :Text;
  # What it means, in the system's words.
}

struct CodeableConcept @0xbb2d1acc4ea21155 {
  # CodeableConcept is a notion, as codes or in words.
  coding @0 :List(Coding);
  # Codes of different systems for the same notion.
  text @1 :Text;
  # The notion in the words of who wrote it down.
}

struct Reference @0xff112c07f062bdea {
  # Reference names another record.
  reference @0 :Text;
  # Its type and ID: "Patient/123".
  display @1 :Text;
  # How a person calls it.
}

struct DateTime @0xacb514983a741dec {
  # DateTime is a time of which only the year, the month or the day may be known.
  time @0 :Timestamp;
  # Its first moment, in UTC where no more than the day is known.
  precision @1 :DatePrecision;
  # How much of it is known.
  utcOffsetMinutes @2 :Int32;
  # The clock that it was read from: minutes east of UTC.
}

struct Period @0x9f935e35398c39a5 {
  # Period is a stretch of time.
  start @0 :DateTime;
  # When it begins; absent where that is not known.
  end @1 :DateTime;
  # When it ends; absent where it goes on.
}

struct Quantity @0xb85d8750fffd695e {
  # Quantity is so much of something.
  value @0 :Text;
  # A decimal, as it was written: "0.50" is more exact than "0.5".
  unit @1 :Text;
  # The unit, for people.
  system @2 :Text;
  # URI of the system that the code is of.
  code @3 :Text;
  # The unit, for programs.
}

struct Timing @0xa37a78a6f7a38fa0 {
  # Timing is how often.
  frequency @0 :Int32;
  # So many times …
  period @1 :Text;
  # … in so many …
  periodUnit @2 :Text;
  # … of these: s, min, h, d, wk, mo, a.
  when @3 :List(Text);
  # Times of the day: codes such as AC, before a meal.
}

struct Dosage @0xa4f7b271ff7bf502 {
  # Dosage is how a medication is taken.
  sequence @0 :Int32;
  # Its place among the dosages of a statement.
  text @1 :Text;
  # All of it, for people.
  patientInstruction @2 :Text;
  # What the patient was told.
  timing @3 :Timing;
  # When.
  asNeeded @4 :Bool;
  # Only when needed.
  route @5 :CodeableConcept;
  # How it enters the body.
  doseQuantity @6 :Quantity;
  # How much at a time.
}

struct Annotation @0xea2293d1dae1ac54 {
  # Annotation is a note.
  author @0 :Text;
  # Who wrote it.
  time @1 :DateTime;
  # When.
  text @2 :Text;
  # What it says.
}

struct MedicationStatement @0xd8308c00d5f3e088 {
  # MedicationStatement is one record, with the fields of FHIR R4's resource that
  # such records have. Source: hl7.org/fhir/R4/medicationstatement.html.
  statementId @0 :Text;
  # Chosen by who made it; unique.
  status @1 :MedicationStatementStatus;
  # Where it stands.
  statusReason @2 :List(CodeableConcept);
  # Why it stands there.
  category @3 :CodeableConcept;
  # Where it is taken: at home, in hospital.
  medication @4 :CodeableConcept;
  # What is taken.
  subject @5 :Reference;
  # Who takes it.
  visitId @6 :Text;
  # The visit that it was made in; empty where there was none.
  effectiveDateTime @7 :DateTime;
  # The moment when it was taken.
  effectivePeriod @8 :Period;
  # The time through which it was taken.
  dateAsserted @9 :DateTime;
  # When the statement was made.
  informationSource @10 :Reference;
  # Who said so.
  reasonCode @11 :List(CodeableConcept);
  # Why it is taken.
  note @12 :List(Annotation);
  # What else there is to say.
  dosage @13 :List(Dosage);
  # How it is taken.
}

struct Violation @0xe2237c3212e29bfe {
  # Violation is a rule that a statement breaks.
  field @0 :Text;
  # Path of the field: "dosage[0].timing.period_unit".
  description @1 :Text;
  # What is wrong with it.
  reason @2 :Text;
  # The rule, such as STRING_PATTERN.
}

struct Reject @0xda2bc92a777ca128 {
  # Reject is a statement that was not kept.
  index @0 :Int64;
  # Its place among all that the call brought, from 0.
  statementId @1 :Text;
  # The ID that it came with, which may be what is wrong.
  message @2 :Text;
  # What is wrong, for people.
  violations @3 :List(Violation);
  # Every rule that it breaks, up to 32.
}

struct GetStatementRequest @0x96c170f1fee8e6c9 {
  # GetStatementRequest names a statement.
  statementId @0 :Text;
  # Which statement.
}

struct GetStatementResponse @0xecc24973bf677b45 {
  # GetStatementResponse brings a statement.
  statement @0 :MedicationStatement;
  # The statement.
}

struct ListStatementsRequest @0xd6813271ebf01c24 {
  # ListStatementsRequest asks for a page of statements.
  pageSize @0 :Int32;
  # How many statements at most; 500 where it is 0.
  pageToken @1 :Text;
  # The next_page_token of the page before; empty for the first.
  subject @2 :Text;
  # Only statements of this subject, "Patient/123"; all where it is empty.
}

struct ListStatementsResponse @0x8196840a4f312f49 {
  # ListStatementsResponse is a page of statements.
  statements @0 :List(MedicationStatement);
  # The statements, in the order in which they first came.
  nextPageToken @1 :Text;
  # Asks for the page after this one; empty on the last.
}

struct BatchWriteRequest @0xab7ad192a35de758 {
  # BatchWriteRequest brings statements. Their rules are held one by one.
  statements @0 :List(MedicationStatement);
  # The statements.
}

struct BatchWriteResponse @0xebfdb1317141dc5a {
  # BatchWriteResponse says what became of them.
  written @0 :Int32;
  # How many are new, or took the place of another.
  unchanged @1 :Int32;
  # How many were kept before, just as they came.
  rejected @2 :List(Reject);
  # The others.
}

struct ExportRequest @0x9e48d13032844e4d {
  # ExportRequest says what to give.
  batchSize @0 :Int32;
  # Statements in a message at most; 500 where it is 0.
  subject @1 :Text;
  # Only statements of this subject, "Patient/123"; all where it is empty.
  resumeToken @2 :Text;
  # The resume_token of the last message of an export that broke off: this one
  # goes on behind it. Empty: from the first.
}

struct ExportResponse @0xcdb0f59eacc79dc5 {
  # ExportResponse brings statements.
  statements @0 :List(MedicationStatement);
  # The statements.
  resumeToken @1 :Text;
  # Where another export may go on.
}

struct ImportRequest @0xdb7efc44ffd231c2 {
  # ImportRequest brings statements. Their rules are held one by one.
  statements @0 :List(MedicationStatement);
  # The statements.
}

struct ImportResponse @0xcd4342cbfc1fb2a1 {
  # ImportResponse says what became of all of them.
  written @0 :Int64;
  # How many are new, or took the place of another.
  unchanged @1 :Int64;
  # How many were kept before, just as they came.
  rejected @2 :List(Reject);
  # The others.
}

struct SyncRequest @0xd4979c20a8d17aed {
  # SyncRequest brings statements. Their rules are held one by one.
  sequence @0 :Int64;
  # Comes back with the answer.
  statements @1 :List(MedicationStatement);
  # The statements.
}

struct SyncResponse @0xc7565638cacf06d0 {
  # SyncResponse says what became of the statements of one message, which are
  # kept by then.
  sequence @0 :Int64;
  # Of the message.
  written @1 :Int32;
  # How many are new, or took the place of another.
  unchanged @2 :Int32;
  # How many were kept before, just as they came.
  rejected @3 :List(Reject);
  # The others; an index counts all that the call brought.
}

interface VisitService @0xb65a728a0b4a2254 {
  # VisitService keeps visits.
  createVisit @0 CreateVisitRequest -> CreateVisitResult;
  # CreateVisit keeps a new visit, as CREATED. Repeating a visit_id with the
  # same content gives the same answer; with other content it is
  # ALREADY_EXISTS.
  getVisit @1 GetVisitRequest -> GetVisitResult;
  # GetVisit gives one visit as it stands.
  listVisits @2 ListVisitsRequest -> ListVisitsResult;
  # ListVisits gives visits a page at a time, the newest first. A visit that
  # comes in while pages are turned is on none of them, and moves none.
  updateVisit @3 UpdateVisitRequest -> UpdateVisitResult;
  # UpdateVisit changes the fields that a mask names. A visit that is signed is
  # not changed any more, and no status goes back: both are
  # FAILED_PRECONDITION.
  signVisit @4 SignVisitRequest -> SignVisitResult;
  # SignVisit ends a visit. One that is signed by the same person already is
  # given as it stands; by another, it is FAILED_PRECONDITION.
}

enum VisitStatus @0xd2f3dc01b4c08a7e {
  # VisitStatus is where a visit stands. It moves forward only.
  invalid @0;
  created @1;
  inProgress @2;
  signed @3;
}

struct Visit @0xecbd67cbe0516197 {
  # Visit is a visit as it is kept.
  visitId @0 :Text;
  # Chosen by who created it; unique.
  status @1 :VisitStatus;
  # Where it stands.
  patientId @2 :Text;
  # Whose visit it is; never empty in one that is kept.
  procedureCodes @3 :List(Text);
  # What was done, in the order in which it was done.
  signedBy @4 :Text;
  # Who signed it; empty until then.
  createTime @5 :Timestamp;
  # When it was created.
  updateTime @6 :Timestamp;
  # When it last changed.
}

struct CreateVisitRequest @0x86d38365f5f06986 {
  # CreateVisitRequest is a visit to keep.
  visitId @0 :Text;
  # Chosen by the client, unique per visit; the idempotency key.
  patientId @1 :Text;
  # Whose visit it is.
  procedureCodes @2 :List(Text);
  # What was done already.
}

struct CreateVisitResponse @0xa3ad865b458fd061 {
  # CreateVisitResponse brings the visit.
  visit @0 :Visit;
  # The visit as it stands.
}

struct GetVisitRequest @0xa1d389a386a2fad3 {
  # GetVisitRequest names a visit.
  visitId @0 :Text;
  # Which visit.
}

struct GetVisitResponse @0xad43e14c5be5e1fa {
  # GetVisitResponse brings a visit.
  visit @0 :Visit;
  # The visit as it stands.
}

struct ListVisitsRequest @0xf6df534a0da1991a {
  # ListVisitsRequest asks for a page of visits.
  pageSize @0 :Int32;
  # How many visits at most; 50 where it is 0.
  pageToken @1 :Text;
  # The next_page_token of the page before; empty for the first.
  patientId @2 :Text;
  # Only this patient's visits; everybody's where it is empty.
}

struct ListVisitsResponse @0xcbffd8c8865b048b {
  # ListVisitsResponse is a page of visits.
  visits @0 :List(Visit);
  # The visits, the newest first.
  nextPageToken @1 :Text;
  # Asks for the page after this one; empty on the last.
}

struct UpdateVisitRequest @0xdf8e732a1f5efb25 {
  # UpdateVisitRequest changes a visit.
  visit @0 :Visit;
  # Which visit, and its new fields. Those that the mask does not name are not
  # read.
  updateMask @1 :FieldMask;
  # Which fields change: status, patient_id and procedure_codes can.
}

struct UpdateVisitResponse @0x921c4189057ed830 {
  # UpdateVisitResponse brings the visit.
  visit @0 :Visit;
  # The visit as it stands after the change.
}

struct SignVisitRequest @0xdb2a7bb6d6f49158 {
  # SignVisitRequest ends a visit.
  visitId @0 :Text;
  # Which visit.
  signedBy @1 :Text;
  # Who signs.
}

struct SignVisitResponse @0xf67a2679227a186c {
  # SignVisitResponse brings the visit.
  visit @0 :Visit;
  # The visit, signed.
}

struct BatchWriteResult @0x8743b2cc575b91d1 {
  union {
    reply @0 :BatchWriteResponse;
    failure @1 :Failure;
  }
}

struct CreateVisitResult @0xe522a92d571cc780 {
  union {
    reply @0 :CreateVisitResponse;
    failure @1 :Failure;
  }
}

interface ExportReplies @0x8924ea2cabf76663 {
  send @0 ExportResponse -> stream;
}

struct Failure @0x8f1536ea4f303992 {
  code @0 :Int32;
  message @1 :Text;
  violations @2 :List(FieldViolation);
  retryAfterNanos @3 :Int64;
}

struct FieldMask @0xf748d243a72623d1 {
  paths @0 :List(Text);
}

struct FieldViolation @0xac90ad59ca6ca64f {
  field @0 :Text;
  description @1 :Text;
  reason @2 :Text;
}

struct GetStatementResult @0x8e4cfd8dd0b08c48 {
  union {
    reply @0 :GetStatementResponse;
    failure @1 :Failure;
  }
}

struct GetVisitResult @0x84562cee28ab86a0 {
  union {
    reply @0 :GetVisitResponse;
    failure @1 :Failure;
  }
}

interface ImportRequests @0xd9bf92fa25a951e1 {
  send @0 ImportRequest -> stream;
  end @1 () -> ImportResult;
}

struct ImportResult @0xee47a11b4977b777 {
  union {
    reply @0 :ImportResponse;
    failure @1 :Failure;
  }
}

struct ListStatementsResult @0xbcab64ab18df508d {
  union {
    reply @0 :ListStatementsResponse;
    failure @1 :Failure;
  }
}

struct ListVisitsResult @0xd66bd0e2263333cd {
  union {
    reply @0 :ListVisitsResponse;
    failure @1 :Failure;
  }
}

struct SignVisitResult @0xd394abee82c746d6 {
  union {
    reply @0 :SignVisitResponse;
    failure @1 :Failure;
  }
}

interface SyncReplies @0x8557ef3119922b55 {
  send @0 SyncResponse -> stream;
}

interface SyncRequests @0xa7eb8ea508bbdeda {
  send @0 SyncRequest -> stream;
  end @1 () -> (failure :Failure);
}

struct Timestamp @0xe72d259733f864ae {
  seconds @0 :Int64;
  nanos @1 :Int32;
}

struct UpdateVisitResult @0x9db9b7a0297a5bac {
  union {
    reply @0 :UpdateVisitResponse;
    failure @1 :Failure;
  }
}
