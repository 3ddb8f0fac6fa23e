// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const Apis = "query Apis($projectId:ID!){apis(projectId:$projectId){...ApiRow}}fragment ApiRow on Api{id identifier name accessTokenTtlSeconds thirdPartyAccess version scopes{key description}protectedResource{metadataUrl metadata}}" as of.Operation<of.ApisQuery, of.ApisQueryVariables>;
export const ApiGrants = "query ApiGrants($projectId:ID!$clientId:ID!){apis(projectId:$projectId){...ApiRow}apiGrants(clientId:$clientId){scopes introspects api{id}}}fragment ApiRow on Api{id identifier name accessTokenTtlSeconds thirdPartyAccess version scopes{key description}protectedResource{metadataUrl metadata}}" as of.Operation<of.ApiGrantsQuery, of.ApiGrantsQueryVariables>;
export const CreateApi = "mutation CreateApi($input:CreateApiInput!){createApi(input:$input){...ApiRow}}fragment ApiRow on Api{id identifier name accessTokenTtlSeconds thirdPartyAccess version scopes{key description}protectedResource{metadataUrl metadata}}" as of.Operation<of.CreateApiMutation, of.CreateApiMutationVariables>;
export const UpdateApi = "mutation UpdateApi($input:UpdateApiInput!){updateApi(input:$input){...ApiRow}}fragment ApiRow on Api{id identifier name accessTokenTtlSeconds thirdPartyAccess version scopes{key description}protectedResource{metadataUrl metadata}}" as of.Operation<of.UpdateApiMutation, of.UpdateApiMutationVariables>;
export const DeleteApi = "mutation DeleteApi($id:ID!){deleteApi(id:$id)}" as of.Operation<of.DeleteApiMutation, of.DeleteApiMutationVariables>;
export const SetApiGrant = "mutation SetApiGrant($input:SetApiGrantInput!){setApiGrant(input:$input){scopes introspects}}" as of.Operation<of.SetApiGrantMutation, of.SetApiGrantMutationVariables>;
