// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const Roles = "query Roles($clientId:ID!){roles(clientId:$clientId){...RoleRow}}fragment RoleRow on ClientRole{id key name description userCount groupCount}" as of.Operation<of.RolesQuery, of.RolesQueryVariables>;
export const RoleAssignments = "query RoleAssignments($roleId:ID!$after:String){roleAssignments(roleId:$roleId first:25 after:$after){pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id createdAt user{id userName displayName}group{id displayName}}}}}" as of.Operation<of.RoleAssignmentsQuery, of.RoleAssignmentsQueryVariables>;
export const UserRoles = "query UserRoles($userId:ID!){userRoles(userId:$userId){...HeldRole}}fragment HeldRole on UserRole{direct directory role{id key name client{id name}}groups{id displayName}}" as of.Operation<of.UserRolesQuery, of.UserRolesQueryVariables>;
export const GroupRoles = "query GroupRoles($groupId:ID!){groupRoles(groupId:$groupId){...RoleOfGroup}}fragment RoleOfGroup on ClientRole{id name client{id name}}" as of.Operation<of.GroupRolesQuery, of.GroupRolesQueryVariables>;
export const SearchHolders = "query SearchHolders($projectId:ID!$search:String){...Holders}fragment Holders on Query{users(projectId:$projectId search:$search first:20){edges{node{id userName displayName}}}groups(projectId:$projectId search:$search first:20){edges{node{id displayName}}}}" as of.Operation<of.SearchHoldersQuery, of.SearchHoldersQueryVariables>;
export const CreateRole = "mutation CreateRole($input:CreateRoleInput!){createRole(input:$input){...RoleRow}}fragment RoleRow on ClientRole{id key name description userCount groupCount}" as of.Operation<of.CreateRoleMutation, of.CreateRoleMutationVariables>;
export const UpdateRole = "mutation UpdateRole($input:UpdateRoleInput!){updateRole(input:$input){...RoleRow}}fragment RoleRow on ClientRole{id key name description userCount groupCount}" as of.Operation<of.UpdateRoleMutation, of.UpdateRoleMutationVariables>;
export const DeleteRole = "mutation DeleteRole($id:ID!){deleteRole(id:$id)}" as of.Operation<of.DeleteRoleMutation, of.DeleteRoleMutationVariables>;
export const AssignRole = "mutation AssignRole($input:AssignRoleInput!){assignRole(input:$input){id}}" as of.Operation<of.AssignRoleMutation, of.AssignRoleMutationVariables>;
export const UnassignRole = "mutation UnassignRole($input:UnassignRoleInput!){unassignRole(input:$input){id}}" as of.Operation<of.UnassignRoleMutation, of.UnassignRoleMutationVariables>;
