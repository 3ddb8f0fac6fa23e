// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const RefreshGrants = "query RefreshGrants($projectId:ID!$userId:ID$clientId:ID$after:String){refreshGrants(projectId:$projectId userId:$userId clientId:$clientId first:25 after:$after){...GrantList}}fragment GrantList on RefreshGrantConnection{totalCount isTotalLimited pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id scope offline createdAt lastUsedAt expiresAt client{id name}user{id userName}}}}" as of.Operation<of.RefreshGrantsQuery, of.RefreshGrantsQueryVariables>;
export const RevokeRefreshGrant = "mutation RevokeRefreshGrant($id:ID!){revokeRefreshGrant(id:$id)}" as of.Operation<of.RevokeRefreshGrantMutation, of.RevokeRefreshGrantMutationVariables>;
export const RevokeRefreshGrants = "mutation RevokeRefreshGrants($clientId:ID!){revokeRefreshGrants(clientId:$clientId)}" as of.Operation<of.RevokeRefreshGrantsMutation, of.RevokeRefreshGrantsMutationVariables>;
