// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const Groups = "query Groups($projectId:ID!$search:String$after:String){groups(projectId:$projectId search:$search first:50 after:$after){totalCount pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id displayName externalId memberCount updatedAt}}}}" as of.Operation<of.GroupsQuery, of.GroupsQueryVariables>;
export const GroupById = "query GroupById($id:ID!){group(id:$id){id displayName externalId memberCount createdAt updatedAt}}" as of.Operation<of.GroupByIdQuery, of.GroupByIdQueryVariables>;
export const GroupsOfUser = "query GroupsOfUser($projectId:ID!$userId:ID!){groups(projectId:$projectId userId:$userId first:100){totalCount edges{node{id displayName}}}}" as of.Operation<of.GroupsOfUserQuery, of.GroupsOfUserQueryVariables>;
