/** The schema extension of custom attributes. */
export const customUrn = 'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User';
