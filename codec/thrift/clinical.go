package thrift

import (
	native "github.com/tare-bench/tare/gen/thrift/clinical"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

const clinicalPackage = "tare.clinical.v1."

var clinicalMessages = merge(visitMessages, statementMessages)

var visitMessages = map[string]message{
	clinicalPackage + "Visit": mapped(fillVisit, takeVisit),
	clinicalPackage + "CreateVisitRequest": mapped(
		func(to *native.CreateVisitRequest, p *clinical.CreateVisitRequest) {
			to.VisitID, to.PatientID, to.ProcedureCodes = p.VisitID, p.PatientID, p.ProcedureCodes
		}, func(to *clinical.CreateVisitRequest, n *native.CreateVisitRequest) {
			to.VisitID, to.PatientID, to.ProcedureCodes = n.VisitID, n.PatientID, n.ProcedureCodes
		}),
	clinicalPackage + "CreateVisitResponse": mapped(
		func(to *native.CreateVisitResponse, p *clinical.CreateVisitResponse) {
			to.Visit = some(p.Visit, visitToThrift)
		}, func(to *clinical.CreateVisitResponse, n *native.CreateVisitResponse) {
			to.Visit = some(n.Visit, visitFromThrift)
		}),
	clinicalPackage + "GetVisitRequest": mapped(
		func(to *native.GetVisitRequest, p *clinical.GetVisitRequest) {
			to.VisitID = p.VisitID
		}, func(to *clinical.GetVisitRequest, n *native.GetVisitRequest) {
			to.VisitID = n.VisitID
		}),
	clinicalPackage + "GetVisitResponse": mapped(
		func(to *native.GetVisitResponse, p *clinical.GetVisitResponse) {
			to.Visit = some(p.Visit, visitToThrift)
		}, func(to *clinical.GetVisitResponse, n *native.GetVisitResponse) {
			to.Visit = some(n.Visit, visitFromThrift)
		}),
	clinicalPackage + "ListVisitsRequest": mapped(
		func(to *native.ListVisitsRequest, p *clinical.ListVisitsRequest) {
			to.PageSize, to.PageToken, to.PatientID = p.PageSize, p.PageToken, p.PatientID
		}, func(to *clinical.ListVisitsRequest, n *native.ListVisitsRequest) {
			to.PageSize, to.PageToken, to.PatientID = n.PageSize, n.PageToken, n.PatientID
		}),
	clinicalPackage + "ListVisitsResponse": mapped(
		func(to *native.ListVisitsResponse, p *clinical.ListVisitsResponse) {
			to.Visits, to.NextPageToken = pointers(p.Visits, fillVisit), p.NextPageToken
		}, func(to *clinical.ListVisitsResponse, n *native.ListVisitsResponse) {
			to.Visits, to.NextPageToken = values(n.Visits, takeVisit), n.NextPageToken
		}),
	clinicalPackage + "UpdateVisitRequest": mapped(
		func(to *native.UpdateVisitRequest, p *clinical.UpdateVisitRequest) {
			to.Visit, to.UpdateMask = some(p.Visit, visitToThrift), some(p.UpdateMask, maskToThrift)
		}, func(to *clinical.UpdateVisitRequest, n *native.UpdateVisitRequest) {
			to.Visit, to.UpdateMask = some(n.Visit, visitFromThrift), some(n.UpdateMask, maskFromThrift)
		}),
	clinicalPackage + "UpdateVisitResponse": mapped(
		func(to *native.UpdateVisitResponse, p *clinical.UpdateVisitResponse) {
			to.Visit = some(p.Visit, visitToThrift)
		}, func(to *clinical.UpdateVisitResponse, n *native.UpdateVisitResponse) {
			to.Visit = some(n.Visit, visitFromThrift)
		}),
	clinicalPackage + "SignVisitRequest": mapped(
		func(to *native.SignVisitRequest, p *clinical.SignVisitRequest) {
			to.VisitID, to.SignedBy = p.VisitID, p.SignedBy
		}, func(to *clinical.SignVisitRequest, n *native.SignVisitRequest) {
			to.VisitID, to.SignedBy = n.VisitID, n.SignedBy
		}),
	clinicalPackage + "SignVisitResponse": mapped(
		func(to *native.SignVisitResponse, p *clinical.SignVisitResponse) {
			to.Visit = some(p.Visit, visitToThrift)
		}, func(to *clinical.SignVisitResponse, n *native.SignVisitResponse) {
			to.Visit = some(n.Visit, visitFromThrift)
		}),
}

var statementMessages = map[string]message{
	clinicalPackage + "MedicationStatement": mapped(fillStatement, takeStatement),
	clinicalPackage + "GetStatementRequest": mapped(
		func(to *native.GetStatementRequest, p *clinical.GetStatementRequest) {
			to.StatementID = p.StatementID
		}, func(to *clinical.GetStatementRequest, n *native.GetStatementRequest) {
			to.StatementID = n.StatementID
		}),
	clinicalPackage + "GetStatementResponse": mapped(
		func(to *native.GetStatementResponse, p *clinical.GetStatementResponse) {
			to.Statement = some(p.Statement, statementToThrift)
		}, func(to *clinical.GetStatementResponse, n *native.GetStatementResponse) {
			to.Statement = some(n.Statement, statementFromThrift)
		}),
	clinicalPackage + "ListStatementsRequest": mapped(
		func(to *native.ListStatementsRequest, p *clinical.ListStatementsRequest) {
			to.PageSize, to.PageToken, to.Subject = p.PageSize, p.PageToken, p.Subject
		}, func(to *clinical.ListStatementsRequest, n *native.ListStatementsRequest) {
			to.PageSize, to.PageToken, to.Subject = n.PageSize, n.PageToken, n.Subject
		}),
	clinicalPackage + "ListStatementsResponse": mapped(
		func(to *native.ListStatementsResponse, p *clinical.ListStatementsResponse) {
			to.Statements, to.NextPageToken = pointers(p.Statements, fillStatement), p.NextPageToken
		}, func(to *clinical.ListStatementsResponse, n *native.ListStatementsResponse) {
			to.Statements, to.NextPageToken = values(n.Statements, takeStatement), n.NextPageToken
		}),
	clinicalPackage + "BatchWriteRequest": mapped(
		func(to *native.BatchWriteRequest, p *clinical.BatchWriteRequest) {
			to.Statements = pointers(p.Statements, fillStatement)
		}, func(to *clinical.BatchWriteRequest, n *native.BatchWriteRequest) {
			to.Statements = values(n.Statements, takeStatement)
		}),
	clinicalPackage + "BatchWriteResponse": mapped(
		func(to *native.BatchWriteResponse, p *clinical.BatchWriteResponse) {
			to.Written, to.Unchanged, to.Rejected = p.Written, p.Unchanged, pointers(p.Rejected, fillReject)
		}, func(to *clinical.BatchWriteResponse, n *native.BatchWriteResponse) {
			to.Written, to.Unchanged, to.Rejected = n.Written, n.Unchanged, values(n.Rejected, takeReject)
		}),
	clinicalPackage + "ExportRequest": mapped(
		func(to *native.ExportRequest, p *clinical.ExportRequest) {
			to.BatchSize, to.Subject, to.ResumeToken = p.BatchSize, p.Subject, p.ResumeToken
		}, func(to *clinical.ExportRequest, n *native.ExportRequest) {
			to.BatchSize, to.Subject, to.ResumeToken = n.BatchSize, n.Subject, n.ResumeToken
		}),
	clinicalPackage + "ExportResponse": mapped(
		func(to *native.ExportResponse, p *clinical.ExportResponse) {
			to.Statements, to.ResumeToken = pointers(p.Statements, fillStatement), p.ResumeToken
		}, func(to *clinical.ExportResponse, n *native.ExportResponse) {
			to.Statements, to.ResumeToken = values(n.Statements, takeStatement), n.ResumeToken
		}),
	clinicalPackage + "ImportRequest": mapped(
		func(to *native.ImportRequest, p *clinical.ImportRequest) {
			to.Statements = pointers(p.Statements, fillStatement)
		}, func(to *clinical.ImportRequest, n *native.ImportRequest) {
			to.Statements = values(n.Statements, takeStatement)
		}),
	clinicalPackage + "ImportResponse": mapped(
		func(to *native.ImportResponse, p *clinical.ImportResponse) {
			to.Written, to.Unchanged, to.Rejected = p.Written, p.Unchanged, pointers(p.Rejected, fillReject)
		}, func(to *clinical.ImportResponse, n *native.ImportResponse) {
			to.Written, to.Unchanged, to.Rejected = n.Written, n.Unchanged, values(n.Rejected, takeReject)
		}),
	clinicalPackage + "SyncRequest": mapped(
		func(to *native.SyncRequest, p *clinical.SyncRequest) {
			to.Sequence, to.Statements = p.Sequence, pointers(p.Statements, fillStatement)
		}, func(to *clinical.SyncRequest, n *native.SyncRequest) {
			to.Sequence, to.Statements = n.Sequence, values(n.Statements, takeStatement)
		}),
	clinicalPackage + "SyncResponse": mapped(
		func(to *native.SyncResponse, p *clinical.SyncResponse) {
			to.Sequence, to.Written, to.Unchanged, to.Rejected = p.Sequence, p.Written, p.Unchanged, pointers(p.Rejected, fillReject)
		}, func(to *clinical.SyncResponse, n *native.SyncResponse) {
			to.Sequence, to.Written, to.Unchanged, to.Rejected = n.Sequence, n.Written, n.Unchanged, values(n.Rejected, takeReject)
		}),
}
