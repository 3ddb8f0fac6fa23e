import './tokens.css';
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import { queryClient } from './api.ts';
import { prefetchFrame } from './frame/prefetch-frame.ts';
import { language } from './language/language.ts';
import { router } from './routes.tsx';
import { settings } from './settings.ts';
import { announceSignIn } from './sign-in-again.ts';
import { colorSchemeManager, theme, variables } from './theme.ts';

if (location.pathname === '/admin/signed-in') announceSignIn();
else start();

function start(): void {
  document.documentElement.lang = language;
  prefetchFrame();
  // For the style element of the dialogs' scroll lock.
  setNonce(settings.nonce);
  createRoot(document.getElementById('root') as HTMLElement).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        colorSchemeManager={colorSchemeManager}
        defaultColorScheme="auto"
        getStyleNonce={() => settings.nonce}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
