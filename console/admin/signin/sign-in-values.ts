/** What the sign-in page's form holds. */
export interface SignInValues {
  signUp: 'OPEN' | 'PROVISIONED_ONLY';
  mfaPolicy: 'OFF' | 'OPTIONAL' | 'REQUIRED';
  rememberMfaSeconds: number;
  deviceTrustSeconds: number;
  testMode: boolean;
}
