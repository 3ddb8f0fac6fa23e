import { createLatchkey } from '@latchkey/browser/native';
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

export function SignIn({ onSuccess }) {
  const [signIn, setSignIn] = useState();
  const [state, setState] = useState({});
  const [typed, setTyped] = useState('');
  useEffect(() => {
    let started;
    const begin = () => {
      setSignIn((started = latchkey.start()));
      setState(started.state);
      started.onStateChange(setState);
    };
    ready.then(begin, (error) => setState({ error }));
    return () => started?.stop();
  }, []);
  useEffect(() => setTyped(''), [state.step]);
  useEffect(() => void (state.step === 'success' && onSuccess(state)), [state, onSuccess]); // code, codeVerifier: for your back end
  const isAddress = state.step === 'address';
  const submit = () =>
    signIn.send(isAddress ? { type: 'submit-address', userid: typed } : { type: 'submit-code', otp: typed });
  return (
    <View>
      <Text>{isAddress ? 'Email address' : `The code sent to ${state.sentTo}`}</Text>
      <TextInput value={typed} onChangeText={setTyped} autoCapitalize="none" />
      <Button title="Continue" disabled={state.busy} onPress={submit} />
      <Text>{state.error?.message}</Text>
    </View>
  );
}
