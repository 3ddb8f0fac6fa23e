interface Answer {
  status: number;
  scimType?: string | null;
}

const byType: Record<string, string> = {
  uniqueness:
    'Somebody here has this user name, e-mail address or phone already. Look for them under Users, or match on another attribute in the directory.',
  invalidValue: 'Change the mapping of this attribute in the directory.',
  invalidFilter: 'The directory asks with a filter that does not parse. Set the unique identifier to userName.',
  invalidPath: 'A PATCH names an attribute that the User schema does not have. Change the mapping in the directory.',
  noTarget: 'A PATCH changes a value that is not there, such as an e-mail of a type that the user lacks.',
  mutability: 'The directory tries to change what cannot be changed, such as an id.',
  tooMany: 'The directory asks for more than is given at once. Let it ask in pages of 100.',
};

const byStatus: Record<number, string> = {
  401: 'The token is wrong, expired or revoked. Issue another, and put it into the directory.',
  404: 'It is not here (any more): the directory remembers somebody who was deleted. Restart the provisioning of this person there.',
  409: 'It is there already.',
  412: 'Somebody else changed it meanwhile: the directory tries again by itself.',
  413: 'The request is larger than is taken. Let the directory send less at once.',
  429: 'Too much at once: the directory waits, and tries again by itself.',
};

/** Advice for a failed request, where the response suggests one. */
export function adviceFor({ status, scimType }: Answer): string | undefined {
  return (scimType ? byType[scimType] : undefined) ?? byStatus[status];
}
