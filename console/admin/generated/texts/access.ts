// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const AccessToClient = "query AccessToClient($clientId:ID!$after:String){assigned:usersWithAccess(clientId:$clientId access:ASSIGNED){...Total}everyone:usersWithAccess(clientId:$clientId access:EVERYONE){...Total}accessRules(clientId:$clientId first:25 after:$after){pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id createdAt user{id userName displayName active}group{id displayName memberCount isMemberCountLimited}organization{id name memberCount isMemberCountLimited}role{id name userCount groupCount}}}}}fragment Total on UserTotal{count isLimited}" as of.Operation<of.AccessToClientQuery, of.AccessToClientQueryVariables>;
export const GrantAccess = "mutation GrantAccess($input:GrantAccessInput!){grantAccess(input:$input){id}}" as of.Operation<of.GrantAccessMutation, of.GrantAccessMutationVariables>;
export const RevokeAccess = "mutation RevokeAccess($id:ID!){revokeAccess(id:$id)}" as of.Operation<of.RevokeAccessMutation, of.RevokeAccessMutationVariables>;
