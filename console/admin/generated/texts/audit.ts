// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const AuditEvents = "query AuditEvents($projectId:ID$filter:AuditEventFilter$first:Int!$after:String){auditEvents(projectId:$projectId filter:$filter first:$first after:$after){...EventList}}fragment EventList on AuditEventConnection{pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{...EventRow}}}fragment EventRow on AuditEvent{id at type result detail ip userAgent requestId actor{kind id name}subject{kind id name}person{id name}client{id name}project{id name}}" as of.Operation<of.AuditEventsQuery, of.AuditEventsQueryVariables>;
export const EventUserName = "query EventUserName($id:ID!){user(id:$id){id userName displayName}}" as of.Operation<of.EventUserNameQuery, of.EventUserNameQueryVariables>;
export const EventClientName = "query EventClientName($id:ID!){client(id:$id){id name}}" as of.Operation<of.EventClientNameQuery, of.EventClientNameQueryVariables>;
export const EventNames = "query EventNames($userId:ID!$clientId:ID!){user(id:$userId){id userName displayName}client(id:$clientId){id name}}" as of.Operation<of.EventNamesQuery, of.EventNamesQueryVariables>;
