import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { fields, int, text } from '../api/fields.ts';

@Access('inherited')
@ObjectType({ description: 'Activity of a project on one day.' })
export class DayOfActivity extends fields({
  day: text('In UTC, e.g. `2026-03-01`.'),
  signIns: int(),
  signInsOnKnownDevices: int('Sign-ins without a code, on a trusted device.'),
  signInsWithPasskeys: int(),
  activeUsers: int('Distinct users who signed in.'),
  codesSent: int(),
  codesVerified: int('Sign-in codes that were accepted.'),
  codeSeconds: int('Total seconds from sending to entering, over all verified codes.'),
  refused: int('Rejected one-time codes, second factors, device proofs and passkeys.'),
  logoutsDelivered: int("Delivered logout tokens of that day's logouts."),
  logoutsFailed: int('Logout tokens that could not be delivered.'),
  scimRequests: int(),
  scimRefused: int('Responses with 4xx.'),
  scimFailed: int('Responses with 5xx.'),
}) {}
