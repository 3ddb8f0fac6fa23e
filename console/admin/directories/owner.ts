/** The project or the organization that a directory belongs to, as variables of the API. */
export type DirectoryOwner = { projectId: string } | { organizationId: string };
