// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const SignInHistoryOf = "query SignInHistoryOf($projectId:ID!$about:String){signInHistory(projectId:$projectId about:$about){kind about user{id name}explanation{meaning remedy}attempts{id startedAt outcome client{id name}steps{isOfRequest explanation{meaning remedy}event{...EventRow}}}}}fragment EventRow on AuditEvent{id at type result detail ip userAgent requestId actor{kind id name}subject{kind id name}person{id name}client{id name}project{id name}}" as of.Operation<of.SignInHistoryOfQuery, of.SignInHistoryOfQueryVariables>;
export const ViewAs = "query ViewAs($clientId:ID!$userId:ID!$scopes:[String!]!){viewAs(clientId:$clientId userId:$userId scopes:$scopes){takesPasskey asksConsent signIns{deviceId deviceName denied steps{kind reason methods}}}}" as of.Operation<of.ViewAsQuery, of.ViewAsQueryVariables>;
