// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const Memberships = "query Memberships($projectId:ID){memberships(projectId:$projectId){...MembershipRow}}fragment MembershipRow on Membership{id role impersonates createdAt admin{id name email active lastSignInAt}}" as of.Operation<of.MembershipsQuery, of.MembershipsQueryVariables>;
export const AdminTokens = "query AdminTokens($projectId:ID){adminTokens(projectId:$projectId){...AdminTokenRow}}fragment AdminTokenRow on AdminToken{id name hint role createdAt expiresAt lastUsedAt revokedAt}" as of.Operation<of.AdminTokensQuery, of.AdminTokensQueryVariables>;
export const GrantRole = "mutation GrantRole($input:GrantRoleInput!){grantRole(input:$input){...MembershipRow}}fragment MembershipRow on Membership{id role impersonates createdAt admin{id name email active lastSignInAt}}" as of.Operation<of.GrantRoleMutation, of.GrantRoleMutationVariables>;
export const RevokeRole = "mutation RevokeRole($id:ID!){revokeRole(id:$id)}" as of.Operation<of.RevokeRoleMutation, of.RevokeRoleMutationVariables>;
export const IssueAdminToken = "mutation IssueAdminToken($input:IssueAdminTokenInput!){issueAdminToken(input:$input){token adminToken{...AdminTokenRow}}}fragment AdminTokenRow on AdminToken{id name hint role createdAt expiresAt lastUsedAt revokedAt}" as of.Operation<of.IssueAdminTokenMutation, of.IssueAdminTokenMutationVariables>;
export const RevokeAdminToken = "mutation RevokeAdminToken($id:ID!){revokeAdminToken(id:$id){...AdminTokenRow}}fragment AdminTokenRow on AdminToken{id name hint role createdAt expiresAt lastUsedAt revokedAt}" as of.Operation<of.RevokeAdminTokenMutation, of.RevokeAdminTokenMutationVariables>;
