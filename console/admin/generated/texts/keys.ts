// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const SigningKeys = "query SigningKeys{signingKeys{...SigningKeyRow}}fragment SigningKeyRow on SigningKey{id alg signing createdAt signsFrom signsUntil publishedUntil withdrawnAt}" as of.Operation<of.SigningKeysQuery, of.SigningKeysQueryVariables>;
export const RotateSigningKeys = "mutation RotateSigningKeys{rotateSigningKeys{...SigningKeyRow}}fragment SigningKeyRow on SigningKey{id alg signing createdAt signsFrom signsUntil publishedUntil withdrawnAt}" as of.Operation<of.RotateSigningKeysMutation, of.RotateSigningKeysMutationVariables>;
export const WithdrawSigningKey = "mutation WithdrawSigningKey($id:ID!){withdrawSigningKey(id:$id){...SigningKeyRow}}fragment SigningKeyRow on SigningKey{id alg signing createdAt signsFrom signsUntil publishedUntil withdrawnAt}" as of.Operation<of.WithdrawSigningKeyMutation, of.WithdrawSigningKeyMutationVariables>;
