// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const CustomDomains = "query CustomDomains($projectId:ID!){customDomains(projectId:$projectId){...DomainRow}}fragment DomainRow on CustomDomain{id host issuer state fault challengeName challenge checkedAt missingSince unansweredSince releaseAt}" as of.Operation<of.CustomDomainsQuery, of.CustomDomainsQueryVariables>;
export const CreateCustomDomain = "mutation CreateCustomDomain($projectId:ID!$host:String!){createCustomDomain(projectId:$projectId host:$host){...DomainRow}}fragment DomainRow on CustomDomain{id host issuer state fault challengeName challenge checkedAt missingSince unansweredSince releaseAt}" as of.Operation<of.CreateCustomDomainMutation, of.CreateCustomDomainMutationVariables>;
export const CheckCustomDomain = "mutation CheckCustomDomain($id:ID!){checkCustomDomain(id:$id){...DomainRow}}fragment DomainRow on CustomDomain{id host issuer state fault challengeName challenge checkedAt missingSince unansweredSince releaseAt}" as of.Operation<of.CheckCustomDomainMutation, of.CheckCustomDomainMutationVariables>;
export const DeleteCustomDomain = "mutation DeleteCustomDomain($id:ID!){deleteCustomDomain(id:$id)}" as of.Operation<of.DeleteCustomDomainMutation, of.DeleteCustomDomainMutationVariables>;
