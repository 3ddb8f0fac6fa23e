import { createLatchkey, type SignInState, type SignIn as Started } from '@latchkey/browser/native';
import * as SecureStore from 'expo-secure-store';
import { useEffect, useState } from 'react';
import { Button, Text, TextInput, View } from 'react-native';
import { install } from 'react-native-quick-crypto';

install(); // crypto.subtle
const thisDevice = { keychainAccessible: SecureStore.WHEN_UNLOCKED_THIS_DEVICE_ONLY };
const latchkey = createLatchkey({
  origin: 'https://app.example.com', // of a redirect URI of the application
  storage: {
    getItem: (name) => SecureStore.getItemAsync(name),
    setItem: (name, value) => SecureStore.setItemAsync(name, value, thisDevice),
    removeItem: (name) => SecureStore.deleteItemAsync(name),
  },
});
const ready = latchkey.init({ apiKey: 'lk_pk_…', baseUrl: 'https://id.example.com' });

export function SignIn({ onSuccess }: { onSuccess: (code: string, codeVerifier?: string) => void }) {
  const [signIn, setSignIn] = useState<Started>();
  const [state, setState] = useState<SignInState>();
  const [error, setError] = useState<Error>();
  const [typed, setTyped] = useState('');
  useEffect(() => {
    const starting = ready.then(() => {
      const started = latchkey.start();
      setSignIn(started);
      setState(started.state);
      started.onStateChange(setState);
      return started;
    });
    starting.catch(setError);
    return () => void starting.then((started) => started.stop(), setError);
  }, []);
  useEffect(() => setTyped(''), [state?.step]);
  useEffect(() => {
    if (state?.step === 'success') onSuccess(state.code, state.codeVerifier); // for your back end
  }, [state, onSuccess]);
  const submit = () =>
    signIn?.send(
      state?.step === 'code' ? { type: 'submit-code', otp: typed } : { type: 'submit-address', userid: typed },
    );
  return (
    <View>
      <Text>{state?.step === 'code' ? `The code sent to ${state.sentTo}` : 'Email address'}</Text>
      <TextInput value={typed} onChangeText={setTyped} autoCapitalize="none" />
      <Button title="Continue" disabled={!state || state.busy} onPress={submit} />
      <Text>{(state?.error ?? error)?.message}</Text>
    </View>
  );
}
