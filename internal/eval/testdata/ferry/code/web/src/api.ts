// Calls to the API of the ferry service.

export class ApiError extends Error {
  constructor(readonly status: number, readonly slug: string) {
    super(slug);
  }
}

let renewing: Promise<string> | null = null;

/** Fetches a new access token; calls that come meanwhile wait for the same one. */
export function renewToken(fetchToken: () => Promise<string>): Promise<string> {
  renewing ??= fetchToken().finally(() => {
    renewing = null;
  });
  return renewing;
}

/** Sends a request and tries it once more with a fresh token after a 401. */
export async function call(path: string, token: () => Promise<string>, fresh: () => Promise<string>): Promise<unknown> {
  let response = await fetch(path, { headers: { Authorization: `Bearer ${await token()}` } });
  if (response.status === 401) {
    response = await fetch(path, { headers: { Authorization: `Bearer ${await fresh()}` } });
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({ type: "unknown" }));
    throw new ApiError(response.status, problem.type);
  }
  return response.json();
}

/** Keeps only the newest of several searches: an older one is stopped when the next begins. */
export function latestOnly<T>(run: (signal: AbortSignal) => Promise<T>): () => Promise<T> {
  let current: AbortController | undefined;
  return () => {
    current?.abort();
    current = new AbortController();
    return run(current.signal);
  };
}
