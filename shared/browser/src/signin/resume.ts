import type { ResumedPrompt, ResumeResponse } from '@latchkey/contracts';
import type { DeviceKey } from '../device-key.ts';
import { post } from '../transport.ts';
import { camelCased, encode, type Setting } from './transaction.ts';
import type { Transactions } from './transactions.ts';

type Camel<Text extends string> = Text extends `${infer Head}_${infer Next}${infer Rest}`
  ? `${Head}${Uppercase<Next>}${Camel<Rest>}`
  : Text;
type CamelCased<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [Name in keyof T as Camel<Name & string>]: CamelCased<T[Name]> }
    : T;

/** The pending sign-in of a reloaded page: its later steps continue it. */
export type ResumedSignin = {
  userid: string;
  rememberDevice: boolean;
  /** The prompt that it had reached. `sentAt`: Unix seconds. */
  prompt: CamelCased<ResumedPrompt>;
};

/** The pending sign-in of the page's flow; undefined if there is none, or this browser lacks its device key. */
export async function resume(setting: Setting, transactions: Transactions): Promise<ResumedSignin | undefined> {
  const { application, connection, now, store } = setting;
  const answer = (await post(connection, 'resume', encode({}), undefined, undefined)) as ResumeResponse;
  if (!application || answer.status !== 'PENDING') return undefined;
  const { jkt } = answer;
  // Without a key, an upstream provider's answer began the sign-in: it takes this page's.
  const key =
    jkt === undefined
      ? await transactions.keyOf(application, answer.userid)
      : (await store.listKeys(application)).find(({ kid }) => kid === jkt);
  // Under a session, the passkey that the user adds needs no device key.
  if (!key && answer.prompt.status !== 'PASSKEY_OFFERED') return undefined;
  const { userid } = key ?? answer;
  const { txn, nonce, expires_in, time, remember_device: rememberDevice, prompt } = answer;
  transactions.keep({
    ...{ txn, nonce, application, lifetime: expires_in * 1000, ahead: time * 1000 - now() },
    ...{ userid, key: key as DeviceKey, options: { rememberDevice }, newDevice: false },
    awaitsAuthenticate: prompt.status === 'DEVICE_REGISTERED',
  });
  return { userid, rememberDevice, prompt: camelCased(prompt) as ResumedSignin['prompt'] };
}
