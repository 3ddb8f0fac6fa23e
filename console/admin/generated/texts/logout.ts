// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const LogoutDeliveries = "query LogoutDeliveries($projectId:ID!$filter:LogoutDeliveryFilter$first:Int!$after:String){logoutDeliveries(projectId:$projectId filter:$filter first:$first after:$after){pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{...LogoutDeliveryRow}}}}fragment LogoutDeliveryRow on LogoutDelivery{id createdAt state sid uri nextAttemptAt userId user{id userName displayName}client{id name}attempts{at status error durationMs}}" as of.Operation<of.LogoutDeliveriesQuery, of.LogoutDeliveriesQueryVariables>;
export const LogoutReceivers = "query LogoutReceivers($projectId:ID!){logoutReceivers(projectId:$projectId){delivered pending failed lastDeliveredAt client{id name backchannelLogoutUri}}}" as of.Operation<of.LogoutReceiversQuery, of.LogoutReceiversQueryVariables>;
export const RetryLogoutDelivery = "mutation RetryLogoutDelivery($id:ID!){retryLogoutDelivery(id:$id){id}}" as of.Operation<of.RetryLogoutDeliveryMutation, of.RetryLogoutDeliveryMutationVariables>;
