// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const SignUpRequests = "query SignUpRequests($projectId:ID!$state:SignUpRequestState!$after:String){signUpRequests(projectId:$projectId state:$state first:25 after:$after){pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id address state createdAt expiresAt}}}}" as of.Operation<of.SignUpRequestsQuery, of.SignUpRequestsQueryVariables>;
export const WaitingSignUps = "query WaitingSignUps($projectId:ID!){signUpRequests(projectId:$projectId first:1){totalCount}}" as of.Operation<of.WaitingSignUpsQuery, of.WaitingSignUpsQueryVariables>;
export const ApproveSignUp = "mutation ApproveSignUp($id:ID!){approveSignUp(id:$id){id userName}}" as of.Operation<of.ApproveSignUpMutation, of.ApproveSignUpMutationVariables>;
export const DeclineSignUp = "mutation DeclineSignUp($id:ID!){declineSignUp(id:$id){id}}" as of.Operation<of.DeclineSignUpMutation, of.DeclineSignUpMutationVariables>;
