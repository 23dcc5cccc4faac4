// What every function of the driver does before and after its own work.
#pragma once

#include <memory>

#include "fault.h"
#include "libcuda.h"
#include "object.h"

namespace driver {

// What a call asks for before it does anything.
enum class Needs {
  nothing,  // also before cuInit
  library,  // after cuInit
  context,  // a current context that lives and is not lost
};

// What a call does when a fault was put on it.
enum class Effect {
  // Nothing but to return the code.
  skipped,
  // Its work, and then returns the code, unless the code loses the context: calls that give
  // something back. The driver's manual says of them that they may return errors of earlier
  // asynchronous work, so the thing is gone all the same.
  kept,
};

// The context that is current on the calling thread; null, or one that was destroyed, when it has
// none. Held by the thread, so a context outlives its handle until each thread has set another.
std::shared_ptr<Context>& current_context();

// The call that the thread is in.
Origin& current_call();

// The code that keeps the thread from doing what it needs, or 0.
CUresult ready(Needs needs);

// initialized turns true with the first cuInit that succeeds.
std::atomic<bool>& initialized();

// call counts a driver call, lets the fault strike that was put on it, checks what it needs and
// runs its body.
template <class Body>
CUresult call(const char* name, Needs needs, Body body, Effect effect = Effect::skipped) {
  Origin& origin = current_call();
  origin.call = name;
  const CUresult injected = faults().count(name, &origin.number);
  if (injected && loses(injected) && needs == Needs::context && current_context()) current_context()->lose(injected, name);
  if (injected && (effect == Effect::skipped || loses(injected))) return injected;
  CUresult code = ready(needs);
  if (!code) code = body();
  if (loses(code) && needs == Needs::context && current_context()) current_context()->lose(code, name);
  return injected ? injected : code;
}

// in_context is call for functions that work in the current context.
template <class Body>
CUresult in_context(const char* name, Body body, Effect effect = Effect::skipped) {
  return call(name, Needs::context, [&] { return body(*current_context()); }, effect);
}

}  // namespace driver
