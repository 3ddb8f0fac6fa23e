// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const DevMailbox = "query DevMailbox($after:String){devMailbox(first:25 after:$after){pageInfo{hasNextPage hasPreviousPage endCursor}edges{node{id at channel to subject text}}}}" as of.Operation<of.DevMailboxQuery, of.DevMailboxQueryVariables>;
