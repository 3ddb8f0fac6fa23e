// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const FirstProjects = "query FirstProjects{projects(first:10){edges{node{id name}}}}" as of.Operation<of.FirstProjectsQuery, of.FirstProjectsQueryVariables>;
