// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const Session = "query Session{me{kind id name freshUntil grants{role projectId}}}" as of.Operation<of.SessionQuery, of.SessionQueryVariables>;
export const SwitcherProjects = "query SwitcherProjects($search:String){projects(search:$search first:8){totalCount edges{node{id name builtIn testMode}}}}" as of.Operation<of.SwitcherProjectsQuery, of.SwitcherProjectsQueryVariables>;
export const PaletteInProject = "query PaletteInProject($projectId:ID!$search:String!){clients(projectId:$projectId search:$search first:5){edges{node{id name}}}users(projectId:$projectId search:$search first:5){edges{node{id userName displayName}}}groups(projectId:$projectId search:$search first:5){edges{node{id displayName}}}projects(search:$search first:5){edges{node{id name}}}}" as of.Operation<of.PaletteInProjectQuery, of.PaletteInProjectQueryVariables>;
export const PaletteProjects = "query PaletteProjects($search:String!){projects(search:$search first:8){edges{node{id name}}}}" as of.Operation<of.PaletteProjectsQuery, of.PaletteProjectsQueryVariables>;
export const PaletteUser = "query PaletteUser($id:ID!){user(id:$id){id active}}" as of.Operation<of.PaletteUserQuery, of.PaletteUserQueryVariables>;
export const PaletteClient = "query PaletteClient($id:ID!){client(id:$id){id disabled}}" as of.Operation<of.PaletteClientQuery, of.PaletteClientQueryVariables>;
