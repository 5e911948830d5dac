// A target of C has a folder of headers; this one offers nothing to call.
