package clinical

import (
	"google.golang.org/protobuf/proto"

	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	"github.com/tare-bench/tare/rpc"
)

// StatementType is one statement by itself, as stores and benchmarks of codecs
// take it; no method does.
var StatementType = rpc.NewType(statementToProto, statementFromProto)

// The services and their methods.
var (
	CreateVisit = &rpc.Method{
		Service: visitServiceName, Name: "CreateVisit", Route: "POST /v1/visits",
		In: rpc.NewType(func(r *CreateVisitRequest) *clinicalv1.CreateVisitRequest {
			return &clinicalv1.CreateVisitRequest{VisitId: r.VisitID, PatientId: r.PatientID, ProcedureCodes: r.ProcedureCodes}
		}, func(m *clinicalv1.CreateVisitRequest) *CreateVisitRequest {
			return &CreateVisitRequest{VisitID: m.GetVisitId(), PatientID: m.GetPatientId(), ProcedureCodes: m.GetProcedureCodes()}
		}),
		Out: rpc.NewType(func(r *CreateVisitResponse) *clinicalv1.CreateVisitResponse {
			return &clinicalv1.CreateVisitResponse{Visit: some(r.Visit, visitToProto)}
		}, func(m *clinicalv1.CreateVisitResponse) *CreateVisitResponse {
			return &CreateVisitResponse{Visit: some(m.GetVisit(), visitFromProto)}
		}),
	}
	GetVisit = &rpc.Method{
		Service: visitServiceName, Name: "GetVisit", Route: "GET /v1/visits/{visit_id}",
		In: rpc.NewType(func(r *GetVisitRequest) *clinicalv1.GetVisitRequest {
			return &clinicalv1.GetVisitRequest{VisitId: r.VisitID}
		}, func(m *clinicalv1.GetVisitRequest) *GetVisitRequest {
			return &GetVisitRequest{VisitID: m.GetVisitId()}
		}),
		Out: rpc.NewType(func(r *GetVisitResponse) *clinicalv1.GetVisitResponse {
			return &clinicalv1.GetVisitResponse{Visit: some(r.Visit, visitToProto)}
		}, func(m *clinicalv1.GetVisitResponse) *GetVisitResponse {
			return &GetVisitResponse{Visit: some(m.GetVisit(), visitFromProto)}
		}),
	}
	ListVisits = &rpc.Method{
		Service: visitServiceName, Name: "ListVisits", Route: "GET /v1/visits",
		In: rpc.NewType(func(r *ListVisitsRequest) *clinicalv1.ListVisitsRequest {
			return &clinicalv1.ListVisitsRequest{PageSize: r.PageSize, PageToken: r.PageToken, PatientId: r.PatientID}
		}, func(m *clinicalv1.ListVisitsRequest) *ListVisitsRequest {
			return &ListVisitsRequest{PageSize: m.GetPageSize(), PageToken: m.GetPageToken(), PatientID: m.GetPatientId()}
		}),
		Out: rpc.NewType(func(r *ListVisitsResponse) *clinicalv1.ListVisitsResponse {
			return &clinicalv1.ListVisitsResponse{Visits: pointers(r.Visits, fillVisit), NextPageToken: r.NextPageToken}
		}, func(m *clinicalv1.ListVisitsResponse) *ListVisitsResponse {
			return &ListVisitsResponse{Visits: values(m.GetVisits(), takeVisit), NextPageToken: m.GetNextPageToken()}
		}),
	}
	UpdateVisit = &rpc.Method{
		Service: visitServiceName, Name: "UpdateVisit", Route: "PATCH /v1/visits",
		In: rpc.NewType(func(r *UpdateVisitRequest) *clinicalv1.UpdateVisitRequest {
			return &clinicalv1.UpdateVisitRequest{Visit: some(r.Visit, visitToProto), UpdateMask: maskToProto(r.UpdateMask)}
		}, func(m *clinicalv1.UpdateVisitRequest) *UpdateVisitRequest {
			return &UpdateVisitRequest{Visit: some(m.GetVisit(), visitFromProto), UpdateMask: maskFromProto(m.GetUpdateMask())}
		}),
		Out: rpc.NewType(func(r *UpdateVisitResponse) *clinicalv1.UpdateVisitResponse {
			return &clinicalv1.UpdateVisitResponse{Visit: some(r.Visit, visitToProto)}
		}, func(m *clinicalv1.UpdateVisitResponse) *UpdateVisitResponse {
			return &UpdateVisitResponse{Visit: some(m.GetVisit(), visitFromProto)}
		}),
	}
	SignVisit = &rpc.Method{
		Service: visitServiceName, Name: "SignVisit", Route: "POST /v1/visits/{visit_id}/signature",
		In: rpc.NewType(func(r *SignVisitRequest) *clinicalv1.SignVisitRequest {
			return &clinicalv1.SignVisitRequest{VisitId: r.VisitID, SignedBy: r.SignedBy}
		}, func(m *clinicalv1.SignVisitRequest) *SignVisitRequest {
			return &SignVisitRequest{VisitID: m.GetVisitId(), SignedBy: m.GetSignedBy()}
		}),
		Out: rpc.NewType(func(r *SignVisitResponse) *clinicalv1.SignVisitResponse {
			return &clinicalv1.SignVisitResponse{Visit: some(r.Visit, visitToProto)}
		}, func(m *clinicalv1.SignVisitResponse) *SignVisitResponse {
			return &SignVisitResponse{Visit: some(m.GetVisit(), visitFromProto)}
		}),
	}
	VisitService = &rpc.Service{
		Name: visitServiceName, Methods: []*rpc.Method{CreateVisit, GetVisit, ListVisits, UpdateVisit, SignVisit},
	}

	GetStatement = &rpc.Method{
		Service: statementServiceName, Name: "GetStatement", Route: "GET /v1/statements/{statement_id}",
		In: rpc.NewType(func(r *GetStatementRequest) *clinicalv1.GetStatementRequest {
			return &clinicalv1.GetStatementRequest{StatementId: r.StatementID}
		}, func(m *clinicalv1.GetStatementRequest) *GetStatementRequest {
			return &GetStatementRequest{StatementID: m.GetStatementId()}
		}),
		Out: rpc.NewType(func(r *GetStatementResponse) *clinicalv1.GetStatementResponse {
			return &clinicalv1.GetStatementResponse{Statement: some(r.Statement, statementToProto)}
		}, func(m *clinicalv1.GetStatementResponse) *GetStatementResponse {
			return &GetStatementResponse{Statement: some(m.GetStatement(), statementFromProto)}
		}),
	}
	ListStatements = &rpc.Method{
		Service: statementServiceName, Name: "ListStatements", Route: "GET /v1/statements",
		In: rpc.NewType(func(r *ListStatementsRequest) *clinicalv1.ListStatementsRequest {
			return &clinicalv1.ListStatementsRequest{PageSize: r.PageSize, PageToken: r.PageToken, Subject: r.Subject}
		}, func(m *clinicalv1.ListStatementsRequest) *ListStatementsRequest {
			return &ListStatementsRequest{PageSize: m.GetPageSize(), PageToken: m.GetPageToken(), Subject: m.GetSubject()}
		}),
		Out: rpc.NewType(func(r *ListStatementsResponse) *clinicalv1.ListStatementsResponse {
			return &clinicalv1.ListStatementsResponse{Statements: pointers(r.Statements, fillStatement), NextPageToken: r.NextPageToken}
		}, func(m *clinicalv1.ListStatementsResponse) *ListStatementsResponse {
			return &ListStatementsResponse{Statements: values(m.GetStatements(), takeStatement), NextPageToken: m.GetNextPageToken()}
		}),
	}
	BatchWrite = &rpc.Method{
		Service: statementServiceName, Name: "BatchWrite", Route: "POST /v1/statements:batchWrite",
		In: rpc.NewType(func(r *BatchWriteRequest) *clinicalv1.BatchWriteRequest {
			return &clinicalv1.BatchWriteRequest{Statements: pointers(r.Statements, fillStatement)}
		}, func(m *clinicalv1.BatchWriteRequest) *BatchWriteRequest {
			return &BatchWriteRequest{Statements: values(m.GetStatements(), takeStatement)}
		}).Outlined(func(r any) proto.Message {
			return &clinicalv1.BatchWriteRequest{Statements: outline(r.(*BatchWriteRequest).Statements)}
		}),
		Out: rpc.NewType(func(r *BatchWriteResponse) *clinicalv1.BatchWriteResponse {
			return &clinicalv1.BatchWriteResponse{Written: r.Written, Unchanged: r.Unchanged, Rejected: pointers(r.Rejected, fillReject)}
		}, func(m *clinicalv1.BatchWriteResponse) *BatchWriteResponse {
			return &BatchWriteResponse{Written: m.GetWritten(), Unchanged: m.GetUnchanged(), Rejected: values(m.GetRejected(), takeReject)}
		}),
	}
	Export = &rpc.Method{
		Service: statementServiceName, Name: "Export", Kind: rpc.ServerStream, Route: "GET /v1/statements:export",
		In: rpc.NewType(func(r *ExportRequest) *clinicalv1.ExportRequest {
			return &clinicalv1.ExportRequest{BatchSize: r.BatchSize, Subject: r.Subject, ResumeToken: r.ResumeToken}
		}, func(m *clinicalv1.ExportRequest) *ExportRequest {
			return &ExportRequest{BatchSize: m.GetBatchSize(), Subject: m.GetSubject(), ResumeToken: m.GetResumeToken()}
		}),
		Out: rpc.NewType(func(r *ExportResponse) *clinicalv1.ExportResponse {
			return &clinicalv1.ExportResponse{Statements: pointers(r.Statements, fillStatement), ResumeToken: r.ResumeToken}
		}, func(m *clinicalv1.ExportResponse) *ExportResponse {
			return &ExportResponse{Statements: values(m.GetStatements(), takeStatement), ResumeToken: m.GetResumeToken()}
		}),
	}
	Import = &rpc.Method{
		Service: statementServiceName, Name: "Import", Kind: rpc.ClientStream, Route: "POST /v1/statements:import",
		In: rpc.NewType(func(r *ImportRequest) *clinicalv1.ImportRequest {
			return &clinicalv1.ImportRequest{Statements: pointers(r.Statements, fillStatement)}
		}, func(m *clinicalv1.ImportRequest) *ImportRequest {
			return &ImportRequest{Statements: values(m.GetStatements(), takeStatement)}
		}).Outlined(func(r any) proto.Message {
			return &clinicalv1.ImportRequest{Statements: outline(r.(*ImportRequest).Statements)}
		}),
		Out: rpc.NewType(func(r *ImportResponse) *clinicalv1.ImportResponse {
			return &clinicalv1.ImportResponse{Written: r.Written, Unchanged: r.Unchanged, Rejected: pointers(r.Rejected, fillReject)}
		}, func(m *clinicalv1.ImportResponse) *ImportResponse {
			return &ImportResponse{Written: m.GetWritten(), Unchanged: m.GetUnchanged(), Rejected: values(m.GetRejected(), takeReject)}
		}),
	}
	Sync = &rpc.Method{
		Service: statementServiceName, Name: "Sync", Kind: rpc.Bidi, Route: "POST /v1/statements:sync",
		In: rpc.NewType(func(r *SyncRequest) *clinicalv1.SyncRequest {
			return &clinicalv1.SyncRequest{Sequence: r.Sequence, Statements: pointers(r.Statements, fillStatement)}
		}, func(m *clinicalv1.SyncRequest) *SyncRequest {
			return &SyncRequest{Sequence: m.GetSequence(), Statements: values(m.GetStatements(), takeStatement)}
		}).Outlined(func(r any) proto.Message {
			from := r.(*SyncRequest)
			return &clinicalv1.SyncRequest{Sequence: from.Sequence, Statements: outline(from.Statements)}
		}),
		Out: rpc.NewType(func(r *SyncResponse) *clinicalv1.SyncResponse {
			return &clinicalv1.SyncResponse{
				Sequence: r.Sequence, Written: r.Written, Unchanged: r.Unchanged, Rejected: pointers(r.Rejected, fillReject),
			}
		}, func(m *clinicalv1.SyncResponse) *SyncResponse {
			return &SyncResponse{
				Sequence: m.GetSequence(), Written: m.GetWritten(), Unchanged: m.GetUnchanged(), Rejected: values(m.GetRejected(), takeReject),
			}
		}),
	}
	StatementService = &rpc.Service{
		Name: statementServiceName, Methods: []*rpc.Method{GetStatement, ListStatements, BatchWrite, Export, Import, Sync},
	}
)

const (
	visitServiceName     = "tare.clinical.v1.VisitService"
	statementServiceName = "tare.clinical.v1.StatementService"
)
