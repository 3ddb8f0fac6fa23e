// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const Messages = "query Messages($projectId:ID!$channel:MessageChannel$state:MessageState$template:MessageTemplate$recipient:String$after:String){messages(projectId:$projectId channel:$channel state:$state template:$template recipient:$recipient first:50 after:$after){pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id createdAt channel template recipient locale state attempts note sentAt}}}}" as of.Operation<of.MessagesQuery, of.MessagesQueryVariables>;
export const MessagePreview = "query MessagePreview($projectId:ID!$template:MessageTemplate!$locale:String!$draft:Boolean!){messagePreview(projectId:$projectId template:$template locale:$locale draft:$draft){subject text sms}}" as of.Operation<of.MessagePreviewQuery, of.MessagePreviewQueryVariables>;
export const MessageSenders = "query MessageSenders{messageSenders{channel kind target from variables}}" as of.Operation<of.MessageSendersQuery, of.MessageSendersQueryVariables>;
export const TestSender = "mutation TestSender($input:TestSenderInput!){testSender(input:$input){channel to passed stages{name state milliseconds detail advice}}}" as of.Operation<of.TestSenderMutation, of.TestSenderMutationVariables>;
