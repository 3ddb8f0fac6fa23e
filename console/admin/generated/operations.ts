// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type { TypedDocumentNode } from '@urql/core';

type Operation<Data, Variables extends Record<string, unknown>> = TypedDocumentNode<Data, Variables>;

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** For the browser SDK, or for the server library. */
export type ApiKeyKind =
  | 'PUBLISHABLE'
  | 'SECRET';

/** What every instance has. */
export type BuiltIn =
  | 'CONSOLE'
  | 'DEMO';

/** By what a caller is known. */
export type CallerKind =
  | 'ADMIN'
  | 'ADMIN_TOKEN'
  | 'BOOTSTRAP_TOKEN';

export type CreateClientInput = {
  /** 1 to 3600 seconds; the project's where absent. */
  accessTokenTtlSeconds?: number | null | undefined;
  /** True where absent. */
  backchannelLogoutSessionRequired?: boolean | null | undefined;
  backchannelLogoutUri?: string | null | undefined;
  /** One public Ed25519 key: a JWK or a JWK Set, as an object or as JSON text. */
  jwks?: unknown;
  /** SECEVENT where absent. */
  logoutTokenTyp?: LogoutTokenTyp | null | undefined;
  name: string;
  postLogoutRedirectUris?: Array<string> | null | undefined;
  projectId: string;
  /** Compared letter by letter; https, or http on loopback. */
  redirectUris?: Array<string> | null | undefined;
  /** NONE where absent. */
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null | undefined;
};

export type CreateProjectInput = {
  deviceTrustSeconds?: number | null | undefined;
  mfaPolicy?: MfaPolicy | null | undefined;
  name: string;
  rememberMfaSeconds?: number | null | undefined;
  scimAuthoritative?: boolean | null | undefined;
  scimEnabled?: boolean | null | undefined;
  signUp?: SignUp | null | undefined;
  testMode?: boolean | null | undefined;
};

export type DeleteProjectInput = {
  /** The name of the project, typed out. */
  confirmName: string;
  id: string;
};

/** Header `typ` of logout tokens: `secevent+jwt` or `logout+jwt`. */
export type LogoutTokenTyp =
  | 'LOGOUT'
  | 'SECEVENT';

/** Whether a second factor is owed. */
export type MfaPolicy =
  | 'OFF'
  | 'OPTIONAL'
  | 'REQUIRED';

/** What an admin may do; an owner owns the instance. */
export type Role =
  | 'OWNER'
  | 'PROJECT_ADMIN'
  | 'PROJECT_VIEWER';

/** Who can have an account. */
export type SignUp =
  | 'OPEN'
  | 'PROVISIONED_ONLY';

/** How a client authenticates at the token endpoint (RFC 7591 §2). */
export type TokenEndpointAuthMethod =
  | 'NONE'
  | 'PRIVATE_KEY_JWT';

/** What is absent stays as it is; null takes away `jwks`, `backchannelLogoutUri` and `accessTokenTtlSeconds`. */
export type UpdateClientInput = {
  /** 1 to 3600 seconds; the project's where absent. */
  accessTokenTtlSeconds?: number | null | undefined;
  /** True where absent. */
  backchannelLogoutSessionRequired?: boolean | null | undefined;
  backchannelLogoutUri?: string | null | undefined;
  /** A disabled client gets nothing any more. */
  disabled?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  id: string;
  /** One public Ed25519 key: a JWK or a JWK Set, as an object or as JSON text. */
  jwks?: unknown;
  /** SECEVENT where absent. */
  logoutTokenTyp?: LogoutTokenTyp | null | undefined;
  name?: string | null | undefined;
  postLogoutRedirectUris?: Array<string> | null | undefined;
  /** Compared letter by letter; https, or http on loopback. */
  redirectUris?: Array<string> | null | undefined;
  /** NONE where absent. */
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null | undefined;
};

/** What is absent stays as it is. */
export type UpdateProjectInput = {
  deviceTrustSeconds?: number | null | undefined;
  expectedVersion?: number | null | undefined;
  id: string;
  mfaPolicy?: MfaPolicy | null | undefined;
  name?: string | null | undefined;
  rememberMfaSeconds?: number | null | undefined;
  scimAuthoritative?: boolean | null | undefined;
  scimEnabled?: boolean | null | undefined;
  signUp?: SignUp | null | undefined;
  testMode?: boolean | null | undefined;
};

/** In seconds; what is absent stays as it is. */
export type UpdateSessionPolicyInput = {
  accessTokenTtlSeconds?: number | null | undefined;
  expectedVersion?: number | null | undefined;
  idTokenTtlSeconds?: number | null | undefined;
  idleTimeoutSeconds?: number | null | undefined;
  maxSessionSeconds?: number | null | undefined;
  projectId: string;
};

export type ApiKeyRowFragment = { id: string, kind: ApiKeyKind, hint: string, createdAt: string, lastUsedAt: string | null, revokedAt: string | null };

export type ClientSettingsFragment = { id: string, name: string, builtIn: BuiltIn | null, tokenEndpointAuthMethod: TokenEndpointAuthMethod, jwks: unknown, redirectUris: Array<string>, postLogoutRedirectUris: Array<string>, backchannelLogoutUri: string | null, backchannelLogoutSessionRequired: boolean, logoutTokenTyp: LogoutTokenTyp, accessTokenTtlSeconds: number | null, disabled: boolean, version: number, createdAt: string, updatedAt: string, apiKeys: Array<ApiKeyRowFragment> };

export type ClientsQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ClientsQuery = { clients: { totalCount: number, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, name: string, builtIn: BuiltIn | null, tokenEndpointAuthMethod: TokenEndpointAuthMethod, redirectUris: Array<string>, disabled: boolean, createdAt: string } }> } };

export type ClientByIdQueryVariables = Exact<{
  id: string;
}>;


export type ClientByIdQuery = { client: ClientSettingsFragment | null };

export type CreateClientMutationVariables = Exact<{
  input: CreateClientInput;
}>;


export type CreateClientMutation = { createClient: { publishableKey: string, secretKey: string, client: ClientSettingsFragment } };

export type UpdateClientMutationVariables = Exact<{
  input: UpdateClientInput;
}>;


export type UpdateClientMutation = { updateClient: ClientSettingsFragment };

export type DeleteClientMutationVariables = Exact<{
  id: string;
}>;


export type DeleteClientMutation = { deleteClient: string };

export type IssueApiKeyMutationVariables = Exact<{
  clientId: string;
  kind: ApiKeyKind;
}>;


export type IssueApiKeyMutation = { issueApiKey: { key: string, apiKey: ApiKeyRowFragment } };

export type RevokeApiKeyMutationVariables = Exact<{
  id: string;
}>;


export type RevokeApiKeyMutation = { revokeApiKey: ApiKeyRowFragment };

export type SessionQueryVariables = Exact<{ [key: string]: never; }>;


export type SessionQuery = { me: { kind: CallerKind, id: string | null, name: string, freshUntil: string | null, grants: Array<{ role: Role, projectId: string | null }> } };

export type SwitcherProjectsQueryVariables = Exact<{
  search?: string | null | undefined;
}>;


export type SwitcherProjectsQuery = { projects: { totalCount: number, edges: Array<{ node: { id: string, name: string, builtIn: BuiltIn | null, testMode: boolean } }> } };

export type PaletteInProjectQueryVariables = Exact<{
  projectId: string;
  search: string;
}>;


export type PaletteInProjectQuery = { clients: { edges: Array<{ node: { id: string, name: string } }> }, users: { edges: Array<{ node: { id: string, userName: string, displayName: string | null } }> }, projects: { edges: Array<{ node: { id: string, name: string } }> } };

export type PaletteProjectsQueryVariables = Exact<{
  search: string;
}>;


export type PaletteProjectsQuery = { projects: { edges: Array<{ node: { id: string, name: string } }> } };

export type ProjectSettingsFragment = { id: string, name: string, builtIn: BuiltIn | null, scimEnabled: boolean, scimAuthoritative: boolean, testMode: boolean, signUp: SignUp, mfaPolicy: MfaPolicy, rememberMfaSeconds: number, deviceTrustSeconds: number, idleTimeoutSeconds: number, maxSessionSeconds: number, idTokenTtlSeconds: number, accessTokenTtlSeconds: number, version: number, createdAt: string, updatedAt: string };

export type ProjectByIdQueryVariables = Exact<{
  id: string;
}>;


export type ProjectByIdQuery = { project: ProjectSettingsFragment | null };

export type ProjectContentsQueryVariables = Exact<{
  id: string;
}>;


export type ProjectContentsQuery = { project: { id: string, contents: { users: number, clients: number, sessions: number, scimTokens: number } } | null };

export type ProjectsQueryVariables = Exact<{
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ProjectsQuery = { projects: { totalCount: number, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, name: string, builtIn: BuiltIn | null, testMode: boolean, scimEnabled: boolean, signUp: SignUp, mfaPolicy: MfaPolicy, createdAt: string } }> } };

export type CreateProjectMutationVariables = Exact<{
  input: CreateProjectInput;
}>;


export type CreateProjectMutation = { createProject: { id: string, name: string } };

export type UpdateProjectMutationVariables = Exact<{
  input: UpdateProjectInput;
}>;


export type UpdateProjectMutation = { updateProject: ProjectSettingsFragment };

export type DeleteProjectMutationVariables = Exact<{
  input: DeleteProjectInput;
}>;


export type DeleteProjectMutation = { deleteProject: { users: number, clients: number, sessions: number, scimTokens: number } };

export type UpdateSessionPolicyMutationVariables = Exact<{
  input: UpdateSessionPolicyInput;
}>;


export type UpdateSessionPolicyMutation = { updateSessionPolicy: ProjectSettingsFragment };

export const Clients = "query Clients($projectId:ID!$search:String$after:String){clients(projectId:$projectId search:$search first:25 after:$after){totalCount pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id name builtIn tokenEndpointAuthMethod redirectUris disabled createdAt}}}}" as unknown as Operation<ClientsQuery, ClientsQueryVariables>;
export const ClientById = "query ClientById($id:ID!){client(id:$id){...ClientSettings}}fragment ClientSettings on Client{id name builtIn tokenEndpointAuthMethod jwks redirectUris postLogoutRedirectUris backchannelLogoutUri backchannelLogoutSessionRequired logoutTokenTyp accessTokenTtlSeconds disabled version createdAt updatedAt apiKeys{...ApiKeyRow}}fragment ApiKeyRow on ApiKey{id kind hint createdAt lastUsedAt revokedAt}" as unknown as Operation<ClientByIdQuery, ClientByIdQueryVariables>;
export const CreateClient = "mutation CreateClient($input:CreateClientInput!){createClient(input:$input){client{...ClientSettings}publishableKey secretKey}}fragment ClientSettings on Client{id name builtIn tokenEndpointAuthMethod jwks redirectUris postLogoutRedirectUris backchannelLogoutUri backchannelLogoutSessionRequired logoutTokenTyp accessTokenTtlSeconds disabled version createdAt updatedAt apiKeys{...ApiKeyRow}}fragment ApiKeyRow on ApiKey{id kind hint createdAt lastUsedAt revokedAt}" as unknown as Operation<CreateClientMutation, CreateClientMutationVariables>;
export const UpdateClient = "mutation UpdateClient($input:UpdateClientInput!){updateClient(input:$input){...ClientSettings}}fragment ClientSettings on Client{id name builtIn tokenEndpointAuthMethod jwks redirectUris postLogoutRedirectUris backchannelLogoutUri backchannelLogoutSessionRequired logoutTokenTyp accessTokenTtlSeconds disabled version createdAt updatedAt apiKeys{...ApiKeyRow}}fragment ApiKeyRow on ApiKey{id kind hint createdAt lastUsedAt revokedAt}" as unknown as Operation<UpdateClientMutation, UpdateClientMutationVariables>;
export const DeleteClient = "mutation DeleteClient($id:ID!){deleteClient(id:$id)}" as unknown as Operation<DeleteClientMutation, DeleteClientMutationVariables>;
export const IssueApiKey = "mutation IssueApiKey($clientId:ID!$kind:ApiKeyKind!){issueApiKey(clientId:$clientId kind:$kind){key apiKey{...ApiKeyRow}}}fragment ApiKeyRow on ApiKey{id kind hint createdAt lastUsedAt revokedAt}" as unknown as Operation<IssueApiKeyMutation, IssueApiKeyMutationVariables>;
export const RevokeApiKey = "mutation RevokeApiKey($id:ID!){revokeApiKey(id:$id){...ApiKeyRow}}fragment ApiKeyRow on ApiKey{id kind hint createdAt lastUsedAt revokedAt}" as unknown as Operation<RevokeApiKeyMutation, RevokeApiKeyMutationVariables>;
export const Session = "query Session{me{kind id name freshUntil grants{role projectId}}}" as unknown as Operation<SessionQuery, SessionQueryVariables>;
export const SwitcherProjects = "query SwitcherProjects($search:String){projects(search:$search first:8){totalCount edges{node{id name builtIn testMode}}}}" as unknown as Operation<SwitcherProjectsQuery, SwitcherProjectsQueryVariables>;
export const PaletteInProject = "query PaletteInProject($projectId:ID!$search:String!){clients(projectId:$projectId search:$search first:5){edges{node{id name}}}users(projectId:$projectId search:$search first:5){edges{node{id userName displayName}}}projects(search:$search first:5){edges{node{id name}}}}" as unknown as Operation<PaletteInProjectQuery, PaletteInProjectQueryVariables>;
export const PaletteProjects = "query PaletteProjects($search:String!){projects(search:$search first:8){edges{node{id name}}}}" as unknown as Operation<PaletteProjectsQuery, PaletteProjectsQueryVariables>;
export const ProjectById = "query ProjectById($id:ID!){project(id:$id){...ProjectSettings}}fragment ProjectSettings on Project{id name builtIn scimEnabled scimAuthoritative testMode signUp mfaPolicy rememberMfaSeconds deviceTrustSeconds idleTimeoutSeconds maxSessionSeconds idTokenTtlSeconds accessTokenTtlSeconds version createdAt updatedAt}" as unknown as Operation<ProjectByIdQuery, ProjectByIdQueryVariables>;
export const ProjectContents = "query ProjectContents($id:ID!){project(id:$id){id contents{users clients sessions scimTokens}}}" as unknown as Operation<ProjectContentsQuery, ProjectContentsQueryVariables>;
export const Projects = "query Projects($search:String$after:String){projects(search:$search first:25 after:$after){totalCount pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id name builtIn testMode scimEnabled signUp mfaPolicy createdAt}}}}" as unknown as Operation<ProjectsQuery, ProjectsQueryVariables>;
export const CreateProject = "mutation CreateProject($input:CreateProjectInput!){createProject(input:$input){id name}}" as unknown as Operation<CreateProjectMutation, CreateProjectMutationVariables>;
export const UpdateProject = "mutation UpdateProject($input:UpdateProjectInput!){updateProject(input:$input){...ProjectSettings}}fragment ProjectSettings on Project{id name builtIn scimEnabled scimAuthoritative testMode signUp mfaPolicy rememberMfaSeconds deviceTrustSeconds idleTimeoutSeconds maxSessionSeconds idTokenTtlSeconds accessTokenTtlSeconds version createdAt updatedAt}" as unknown as Operation<UpdateProjectMutation, UpdateProjectMutationVariables>;
export const DeleteProject = "mutation DeleteProject($input:DeleteProjectInput!){deleteProject(input:$input){users clients sessions scimTokens}}" as unknown as Operation<DeleteProjectMutation, DeleteProjectMutationVariables>;
export const UpdateSessionPolicy = "mutation UpdateSessionPolicy($input:UpdateSessionPolicyInput!){updateSessionPolicy(input:$input){...ProjectSettings}}fragment ProjectSettings on Project{id name builtIn scimEnabled scimAuthoritative testMode signUp mfaPolicy rememberMfaSeconds deviceTrustSeconds idleTimeoutSeconds maxSessionSeconds idTokenTtlSeconds accessTokenTtlSeconds version createdAt updatedAt}" as unknown as Operation<UpdateSessionPolicyMutation, UpdateSessionPolicyMutationVariables>;
